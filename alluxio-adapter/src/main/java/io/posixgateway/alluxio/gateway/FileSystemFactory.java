package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.client.SiteProperties;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.fs.ClientPropertyOverrides;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.SpoolFolder;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens paths of Alluxio with what a process was started with: its site properties and its spool folder. Any thread. */
public final class FileSystemFactory {
    private static final Logger LOG = LoggerFactory.getLogger(FileSystemFactory.class);

    /** The options of a mount of Alluxio. */
    public static final OptionTable OPTIONS = MountOptions.SESSION.and(AdapterOptions.TABLE);

    /** Properties of the client that a volume may set; none names a class, a file or a folder of this machine. */
    private static final Pattern ALLOWED_PROPERTY =
            Pattern.compile("alluxio\\.(user|network|security\\.(authentication|login))\\.[a-z0-9.]+");

    private static final String BLOCK_FOLDERS = "block_folders";
    /** Options that are not for those who ask for volumes, and the flags that say them. */
    private static final Map<String, String> OWN_FLAGS = Map.of(
            "spool",
            "--spool",
            "spool_free",
            "--spool-free",
            "cache_dir",
            "--cache-dir",
            "cache_dir_size",
            "--cache-dir-size",
            BLOCK_FOLDERS,
            "--block-folders");

    private static final Pattern FORBIDDEN_PROPERTY = Pattern.compile(".*\\.(class|classname|dirs?|path|file|folder)");

    private final Map<String, String> siteProperties;
    /** Options of all volumes that this process was started with. */
    private final Map<String, String> own;

    private final BlockFolderRules blockFolders;
    private final RateCeilings ceilings;
    private final AlluxioMount.Shared shared;
    private final MemoryWatch memory;

    /**
     * @param siteProperties client settings for every volume; null: none but those Alluxio's client finds by itself
     * @param spool where changed files of all volumes go; null: as the option says
     * @throws ServiceException the file cannot be read
     */
    public FileSystemFactory(@Nullable Path siteProperties, @Nullable Path spool, Clock clock) throws ServiceException {
        this(siteProperties, spool, BlockFolderRules.all(""), clock);
    }

    /** @param blockFolders where block files may be read by volumes that do not say so themselves */
    public FileSystemFactory(
            @Nullable Path siteProperties, @Nullable Path spool, BlockFolderRules blockFolders, Clock clock)
            throws ServiceException {
        this(siteProperties, spool, "", blockFolders, RateCeilings.NONE, clock);
    }

    /**
     * @param spoolFree what stays free on the spool's disk, as the option spool_free says it; empty: as is usual
     * @param ceilings of what each volume may ask for in a second
     * @throws OptionException that is no size
     */
    public FileSystemFactory(
            @Nullable Path siteProperties,
            @Nullable Path spool,
            String spoolFree,
            BlockFolderRules blockFolders,
            RateCeilings ceilings,
            Clock clock)
            throws ServiceException {
        this(
                siteProperties,
                ownOptions(spool, spoolFree),
                blockFolders,
                ceilings,
                AlluxioMount.Shared.ofOne(clock),
                null);
    }

    /** @param memory of the process; null: as it is */
    FileSystemFactory(
            @Nullable Path siteProperties,
            Map<String, String> own,
            BlockFolderRules blockFolders,
            AlluxioMount.Shared shared,
            @Nullable MemoryWatch memory)
            throws ServiceException {
        this(siteProperties, own, blockFolders, RateCeilings.NONE, shared, memory);
    }

    private FileSystemFactory(
            @Nullable Path siteProperties,
            Map<String, String> own,
            BlockFolderRules blockFolders,
            RateCeilings ceilings,
            AlluxioMount.Shared shared,
            @Nullable MemoryWatch memory)
            throws ServiceException {
        this.ceilings = ceilings;
        this.shared = shared;
        this.memory = memory == null ? MemoryWatch.ofProcess(shared.cache()) : memory;
        this.blockFolders = blockFolders;
        this.siteProperties = siteProperties == null ? Map.of() : read(siteProperties);
        this.own = own;
        OPTIONS.read(own);
    }

    private FileSystemFactory(FileSystemFactory other, Map<String, String> own) {
        this.ceilings = other.ceilings;
        this.shared = other.shared;
        this.memory = other.memory;
        this.blockFolders = other.blockFolders;
        this.siteProperties = other.siteProperties;
        this.own = own;
    }

    /**
     * The same with one more option for all volumes; it shares what they have in common with this one.
     *
     * @param value as the option says it; null or empty: it is not given
     * @throws OptionException it is not allowed
     */
    public FileSystemFactory owning(String name, @Nullable String value) {
        if (value == null || value.isEmpty()) {
            return this;
        }
        Map<String, String> options = new LinkedHashMap<>(own);
        options.put(name, value);
        LOG.debug("All volumes have {}", AdapterOptions.of(OPTIONS.read(options)));
        return new FileSystemFactory(this, Map.copyOf(options));
    }

    private static Map<String, String> ownOptions(@Nullable Path spool, String spoolFree) {
        Map<String, String> options = new LinkedHashMap<>();
        if (spool != null) {
            options.put("spool", spool.toString());
        }
        if (!spoolFree.isEmpty()) {
            options.put("spool_free", spoolFree);
        }
        return Map.copyOf(options);
    }

    /** Of all volumes of the process. */
    public Clock clock() {
        return shared.clock();
    }

    /** What looks after its memory, once somebody has it look. */
    public MemoryWatch memory() {
        return memory;
    }

    /** What a file says that may be made for other programs, and other versions of Alluxio: names may be unknown. */
    private static Map<String, String> read(Path file) throws ServiceException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw new ServiceException(
                    Kind.INVALID,
                    "the site properties " + file + " cannot be read (" + e + "); give a readable file",
                    e);
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (String name : properties.stringPropertyNames()) {
            if (SiteProperties.isKnown(name)) {
                values.put(name, properties.getProperty(name));
            } else {
                LOG.warn("The Alluxio client does not know property {} of {}; it has no effect", name, file);
            }
        }
        return values;
    }

    /**
     * The options of a volume that others ask for; they may not choose a folder of this machine.
     *
     * @throws OptionException for a name or value that is not allowed
     */
    OptionValues options(Map<String, String> given) {
        OWN_FLAGS.forEach((name, flag) -> {
            if (given.containsKey(name)) {
                throw new OptionException("option '" + name + "' applies to the whole gateway; set it with " + flag
                        + " of posix-gateway serve");
            }
        });
        return ceilings.over(OPTIONS.read(given));
    }

    /**
     * Checks properties that others ask for.
     *
     * @throws OptionException for one that is not allowed
     */
    static void checkProperties(Map<String, String> properties) {
        for (String name : properties.keySet()) {
            if (!ALLOWED_PROPERTY.matcher(name).matches()
                    || FORBIDDEN_PROPERTY.matcher(name).matches()) {
                throw new OptionException(
                        "property '" + name + "' is not allowed for a volume; allowed are alluxio.user.*,"
                                + " alluxio.network.*, alluxio.security.authentication.* and"
                                + " alluxio.security.login.*, except those that name a class or a file; set others in"
                                + " the gateway's --site-properties");
            }
        }
    }

    /**
     * Opens a path that must be there; seconds when Alluxio does not answer.
     *
     * @return a file system that the caller owns
     */
    public AlluxioFileSystem open(AlluxioOptions place, OptionValues values) throws ServiceException {
        AlluxioOptions whole = whole(place);
        try {
            return AlluxioMount.open(whole, adapter(whole, values), shared);
        } catch (StoreException e) {
            throw failure(e);
        }
    }

    /** The same for a mount that may write to its spool, and of which the log says what properties do nothing in it. */
    public AlluxioFileSystem openToServe(AlluxioOptions place, OptionValues values) throws ServiceException {
        checkSpool(place, values);
        AlluxioFileSystem files = open(place, values);
        new ClientPropertyOverrides(whole(place).properties()).tell(values);
        return files;
    }

    /** Here, rather than at the first write, which would fail with EPERM, as all others would. */
    void checkSpool(AlluxioOptions place, OptionValues values) throws ServiceException {
        if (values.on("ro")) {
            return;
        }
        try {
            SpoolFolder.check(adapter(whole(place), values).spoolFolder());
        } catch (StoreException e) {
            throw failure(e);
        }
    }

    /**
     * The same for a session that a keeper holds, with a folder of its own for what outlives this process.
     *
     * @param name of the volume
     */
    AlluxioFileSystem openPersistent(AlluxioOptions place, OptionValues values, String name, AlluxioMount.Opening how)
            throws ServiceException {
        AlluxioOptions whole = whole(place);
        Path folder = folder(adapter(whole, values).spoolFolder(), name.replace('.', ','), values, how.goesOn());
        try {
            AdapterOptions options = AdapterOptions.of(owned(whole, values).with("spool", folder.toString()));
            AlluxioFileSystem files = AlluxioMount.openPersistent(whole, options, how, shared);
            new ClientPropertyOverrides(whole.properties()).tell(values);
            return files;
        } catch (StoreException e) {
            throw failure(e);
        }
    }

    /**
     * The volume's folder. A session that a gateway of an earlier version served, without the option, has its records in a folder
     * of this user's among the temporary ones: they go on there.
     */
    private Path folder(Path all, String volume, OptionValues values, boolean goesOn) {
        Path folder = all.resolve(volume);
        Path before = Path.of(System.getProperty("java.io.tmpdir"), "posix-gateway-spool");
        boolean chosen = own.containsKey("spool") || values.given("spool");
        return goesOn && !chosen && Files.notExists(folder) && StateFolder.isOwn(before)
                ? before.resolve(volume)
                : folder;
    }

    /**
     * As {@link #open}, while others serve the path: what is not in Alluxio yet is not loaded from the under file system. Names
     * that are being changed at that moment would come back to life in Alluxio.
     */
    AlluxioFileSystem openBeside(AlluxioOptions place, OptionValues values) throws ServiceException {
        Map<String, String> properties = new LinkedHashMap<>(place.properties());
        properties.put("alluxio.user.file.metadata.load.type", "NEVER");
        properties.put("alluxio.user.file.metadata.sync.interval", "-1");
        return open(new AlluxioOptions(place.masters(), place.path(), place.user(), properties), values);
    }

    /** A client for a volume that may be served soon, connected; the caller owns it. */
    Store connect(AlluxioOptions place, OptionValues values) throws ServiceException {
        AlluxioOptions whole = whole(place);
        try {
            AdapterOptions options = adapter(whole, values);
            Store store = AlluxioMount.connect(whole, options, clock());
            try {
                store.connect();
                store.status(options.names().storedPath(place.path()));
                return store;
            } catch (StoreException | RuntimeException e) {
                store.close();
                throw e;
            }
        } catch (StoreException e) {
            throw failure(e);
        }
    }

    /** Do the site properties say where Alluxio's masters are? */
    boolean namesMasters() {
        return siteProperties.containsKey("alluxio.master.hostname")
                || siteProperties.containsKey("alluxio.master.rpc.addresses");
    }

    private AlluxioOptions whole(AlluxioOptions place) {
        Map<String, String> properties = new LinkedHashMap<>(siteProperties);
        properties.putAll(place.properties());
        return new AlluxioOptions(place.masters(), place.path(), place.user(), properties);
    }

    private AdapterOptions adapter(AlluxioOptions whole, OptionValues values) throws ServiceException {
        return AdapterOptions.of(owned(whole, values));
    }

    /** With what this process was started with. */
    private OptionValues owned(AlluxioOptions whole, OptionValues values) throws ServiceException {
        OptionValues all = heeded(whole, values);
        for (Map.Entry<String, String> each : own.entrySet()) {
            all = all.with(each.getKey(), each.getValue());
        }
        return all;
    }

    /** With what the properties say of options that are not given. */
    private OptionValues heeded(AlluxioOptions whole, OptionValues values) throws ServiceException {
        try {
            OptionValues heeded = new ClientPropertyOverrides(whole.properties()).under(values);
            return values.given(BLOCK_FOLDERS)
                    ? heeded
                    : heeded.with(BLOCK_FOLDERS, blockFolders.option(whole.masters()));
        } catch (OptionException e) {
            throw new ServiceException(Kind.INVALID, String.valueOf(e.getMessage()), e);
        }
    }

    static ServiceException failure(StoreException e) {
        String todo = isFull(e) ? "make room on" : "check";
        String advice = e.isOfThisNode() ? "; " + todo + " the disk of the spool folder on this node" : "";
        return new ServiceException(kindOf(e), e.getMessage() + advice, e);
    }

    private static boolean isFull(StoreException failure) {
        return failure.errno() == Errno.ENOSPC || failure.errno() == Errno.EDQUOT;
    }

    /** The same of a failure: a disk of this node that fails does so again, whoever retries, unless it only lacks room. */
    static Kind kindOf(StoreException failure) {
        Kind kind = kindOf(failure.errno());
        return failure.isOfThisNode() && kind == Kind.UNAVAILABLE && !isFull(failure) ? Kind.PRECONDITION : kind;
    }

    /** What an errno of work on a path means to a caller of the service. */
    static Kind kindOf(int errno) {
        return switch (errno) {
            case Errno.EINVAL, Errno.ENAMETOOLONG -> Kind.INVALID;
            case Errno.ENOENT -> Kind.NOT_FOUND;
            case Errno.EEXIST -> Kind.EXISTS;
            case Errno.EACCES, Errno.EPERM -> Kind.DENIED;
            case Errno.ENOTDIR, Errno.ENOTEMPTY, Errno.EROFS, Errno.ELOOP -> Kind.PRECONDITION;
            default -> Kind.UNAVAILABLE;
        };
    }
}
