package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.CachePolicy.Consistency;
import io.posixgateway.alluxio.meta.GroupAccess;
import io.posixgateway.alluxio.meta.PathPolicies;
import io.posixgateway.alluxio.nodecache.CacheFolders;
import io.posixgateway.alluxio.options.Option;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.alluxio.read.BlockFiles;
import io.posixgateway.alluxio.read.BufferBudget;
import io.posixgateway.alluxio.read.FileReaders;
import io.posixgateway.alluxio.read.TrustedFolders;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How one volume behaves. {@link #TABLE} is where its options are declared.
 *
 * @param noOpen the kernel opens files by itself
 * @param metadataTtlNanos how long metadata is believed
 * @param metadataTtlNanosByPath the same for what is at and below these paths of the mount
 * @param openTrustNanos how old may be what an open believes with close-to-open consistency
 * @param negativeTtlNanos how long a name is believed to be missing without asking whether its directory changed
 * @param writeType of Alluxio, for what is written
 * @param overwrites objects are written over where they are
 * @param passthroughBytes the smallest file that the kernel reads by itself; 0: it reads none
 * @param bypassBytes the smallest file that programs with the bypass library read by themselves; 0: they read none
 * @param readAheadBytes window of each remote stream; 0: none
 * @param bufferBytes memory of all windows together
 * @param names between the names of the mount and those in Alluxio
 * @param linkErrno what {@code link} answers, as Alluxio has no hard links; positive, or {@link HardLinks#BY_USE}
 * @param cacheEntries ceiling of the files and directories kept in memory beyond those the kernel knows
 * @param cacheBytes ceiling of the memory of all of them
 * @param blockFiles open block files kept
 * @param blockFolders where block files may be read
 * @param cacheFolder of the data cache; null: there is none
 * @param cacheFolderBytes most that it may hold
 * @param staleNanos how long after the last response what is known of cached files is believed; 0: not at all
 * @param spoolFreeBytes what stays free on the spool's disk; -1: as is usual
 * @param streamFromBytes length from which on new files go straight to Alluxio; 0: never; -1: as the mount is
 * @param uid owner shown for every file; -1: as Alluxio says
 * @param gid likewise
 * @param umask permission bits taken off every file
 */
public record AdapterOptions(
        Consistency consistency,
        boolean noOpen,
        long metadataTtlNanos,
        Map<String, Long> metadataTtlNanosByPath,
        long openTrustNanos,
        long negativeTtlNanos,
        String writeType,
        boolean overwrites,
        boolean shortCircuit,
        long passthroughBytes,
        long bypassBytes,
        long readAheadBytes,
        long bufferBytes,
        NameCodec names,
        int linkErrno,
        int cacheEntries,
        long cacheBytes,
        int blockFiles,
        TrustedFolders blockFolders,
        @Nullable Path cacheFolder,
        long cacheFolderBytes,
        long staleNanos,
        Path spoolFolder,
        long spoolBytes,
        long spoolFreeBytes,
        long streamFromBytes,
        int uid,
        int gid,
        GroupAccess groupAccess,
        int umask) {
    private static final long STREAM_FROM_BYTES = 64L << 20;
    /** All of 32 bits but the last number, which means none. */
    private static final long MAX_ID = 0xFFFF_FFFEL;

    private static final long OWN_READS_AUTO_BYTES = 1 << 20;

    /** The options, once and for all: command line, control API and documentation read them here. */
    public static final OptionTable TABLE = new OptionTable(
            List.of(
                    Option.oneOf(
                            "consistency",
                            "close-to-open",
                            "Which changes of other clients an open sees: all files closed at least open_trust"
                                    + " earlier (close-to-open), changes older than metadata_ttl (ttl), or none,"
                                    + " because files never change (immutable).",
                            "close-to-open",
                            "ttl",
                            "immutable"),
                    Option.onOff(
                            "no_open",
                            false,
                            "The kernel opens and closes files itself, and reads cached files without a request, like"
                                    + " a local file system: for millions of small files that are read repeatedly."
                                    + " Needs ro and consistency=immutable; excludes passthrough."),
                    new Option(
                            "metadata_ttl",
                            new Option.Time(0, 86_400),
                            "5s",
                            "How long attributes, names and listings stay valid, in the gateway and in the kernel."),
                    new Option(
                            "metadata_ttl_of",
                            new Option.TimesByPath(new Option.Time(0, 86_400), 64),
                            "",
                            "metadata_ttl of single paths and everything below them, for example"
                                    + " /datasets=1h:/scratch=0; the longest matching path applies. Both options are"
                                    + " ignored with consistency=immutable."),
                    new Option(
                            "open_trust",
                            new Option.Time(0, 3600),
                            "1s",
                            "With close-to-open: the age up to which an open uses cached attributes without a request"
                                    + " to Alluxio; 0: every open sends a request."),
                    new Option(
                            "negative_ttl",
                            new Option.Time(0, 86_400),
                            "1s",
                            "How long a missing name is cached, at most metadata_ttl. After that, one request per"
                                    + " directory revalidates all its missing names. Ignored with"
                                    + " consistency=immutable."),
                    Option.oneOf(
                            "write_type",
                            "CACHE_THROUGH",
                            "Where written files are stored: in the workers, in the under file system, or in both.",
                            "CACHE_THROUGH",
                            "THROUGH",
                            "MUST_CACHE",
                            "ASYNC_THROUGH"),
                    Option.oneOf(
                            "replace",
                            "rename",
                            "How a changed file is stored in an object store: under a hidden name, which is then renamed (rename); or"
                                    + " over its object, with one upload and no copy (in-place). If the gateway or its worker ends"
                                    + " during that upload, the object is deleted until the gateway of this node has uploaded the"
                                    + " file from its spool; if the node is lost, so is the file. In-place needs a"
                                    + " persisting write_type, a superuser of Alluxio, and a mount that outlives the"
                                    + " gateway; elsewhere files are renamed.",
                            "rename",
                            "in-place"),
                    Option.onOff("short_circuit", true, "Read the block files of a worker on this host directly."),
                    Option.oneOf(
                            "passthrough",
                            "auto",
                            "On mounts whose files do not change (ro, or consistency=immutable), the kernel itself"
                                    + " reads block files of a worker on this host, for files of one block, and"
                                    + " files of up to 4 MiB in the data cache: of at least 1 MiB (auto), all (on),"
                                    + " none (off). Needs CAP_SYS_ADMIN, and short_circuit or cache_dir; excludes"
                                    + " writeback_cache. Other mounts read through the page cache, so that all readers see what is written.",
                            "auto",
                            "on",
                            "off"),
                    Option.oneOf(
                            "bypass",
                            "off",
                            "On mounts whose files do not change (ro, or consistency=immutable), programs that"
                                    + " preload libposixgw-bypass.so read block files of a worker on this host"
                                    + " themselves: for files of at least 1 MiB (auto), all (on), none (off). Needs"
                                    + " short_circuit.",
                            "off",
                            "auto",
                            "on"),
                    Option.onOff("prefetch", true, "Read ahead in streams from remote workers."),
                    new Option(
                            "read_ahead",
                            new Option.Size(0, 1L << 30),
                            "8M",
                            "Largest read-ahead window per reader of a file on another host, including data just"
                                    + " read."),
                    new Option(
                            "buffer_size",
                            new Option.Size(1 << 20, 1L << 40),
                            "256M",
                            "Memory for all read-ahead windows together, and for what cache_dir gathers (4 MiB at a"
                                    + " time); at most half of POSIX_GATEWAY_DIRECT."),
                    Option.oneOf(
                            "names",
                            "escaped",
                            "How names are stored that Alluxio cannot hold (with a question mark, a backslash or"
                                    + " invalid UTF-8), an object store cannot list (with control characters) or HDFS"
                                    + " refuses (with a colon): with %XX for such bytes and the prefix %pgw% (escaped);"
                                    + " or they are refused with EINVAL (strict).",
                            "escaped",
                            "strict"),
                    Option.oneOf(
                            "link_errno",
                            "auto",
                            "The errno of link, because Alluxio has no hard links. After EPERM, Python's mailbox renames;"
                                    + " after EOPNOTSUPP, RocksDB, Flink and Pebble copy the files of a checkpoint; after"
                                    + " EXDEV, OSTree copies, too. auto: EPERM within a directory or a Maildir, else"
                                    + " EOPNOTSUPP.",
                            "auto",
                            "EOPNOTSUPP",
                            "EXDEV",
                            "EPERM"),
                    new Option(
                            "cache_entries",
                            new Option.Whole(1000, 100_000_000),
                            "",
                            "Maximum number of files and directories whose metadata this mount caches; by default"
                                    + " limited by memory only. Files that the kernel references may exceed it; from"
                                    + " 2 × cache_entries on, the kernel is asked to evict some."),
                    new Option(
                            "cache_size",
                            new Option.Size(1 << 20, 1L << 40),
                            "",
                            "Maximum memory for that metadata, with names and extended attributes: beyond it, the"
                                    + " oldest entries that neither the kernel nor a program uses are evicted. All"
                                    + " mounts of a process share half of POSIX_GATEWAY_HEAP."),
                    new Option(
                            "block_files",
                            new Option.Whole(1, 1_000_000),
                            "4096",
                            "Maximum number of open local block files."),
                    new Option(
                            "block_folders",
                            new Option.Text("absolute paths, separated by colons, or " + TrustedFolders.NONE),
                            "",
                            "Folders below which block files of workers on this host are read directly; others are"
                                    + " read through the worker. By default every folder that a worker names: set"
                                    + " this where the masters are not trusted."),
                    new Option(
                            "cache_dir",
                            new Option.Text("an absolute path"),
                            "",
                            "Folder of the data cache: content that is read from workers on other hosts, or from the"
                                    + " under file system, is kept there for later reads; by default there is none."
                                    + " It must be on a disk of the node, not on overlayfs."),
                    new Option(
                            "cache_dir_size",
                            new Option.Size(1 << 20, 1L << 50),
                            "16G",
                            "Maximum size of the data cache. Volumes of a process that name the same folder share it;"
                                    + " the largest size applies."),
                    new Option(
                            "stale_while_away",
                            new Option.Time(0, 86_400),
                            "10m",
                            "How long after Alluxio's last response opens of files in the data cache use the version"
                                    + " that was known last, while no master responds; 0: they fail."),
                    new Option(
                            "spool",
                            new Option.Text("a folder"),
                            "",
                            "Folder for changed files until they are uploaded; by default"
                                    + " /var/lib/posix-gateway/spool for root, and posix-gateway/spool in"
                                    + " XDG_STATE_HOME (~/.local/state) for other users."),
                    new Option(
                            "spool_size",
                            new Option.Size(1 << 20, 1L << 50),
                            "64G",
                            "Maximum disk space of changed files there, not counting holes; further writes fail with"
                                    + " ENOSPC. A file with holes cannot be longer than this either: EFBIG."),
                    new Option(
                            "spool_free",
                            new Option.Size(0, 1L << 50),
                            "",
                            "Space on the spool's disk that writes leave free for recovery: they fail with ENOSPC"
                                    + " before, whoever filled the disk; by default 1G, at most a twentieth of the"
                                    + " disk."),
                    new Option(
                            "stream_from",
                            new Option.Size(0, 1L << 50),
                            "",
                            "Length from which a new, sequentially written file is streamed to Alluxio without the"
                                    + " spool (0: never). If the gateway is killed, a file that is being streamed is"
                                    + " lost and its writer gets EIO; therefore the default is 64M, but 0 where"
                                    + " mounts outlive the gateway."),
                    new Option(
                            "uid",
                            new Option.Whole(0, MAX_ID),
                            "",
                            "Owner of all files as shown; by default the owner in Alluxio."),
                    new Option(
                            "gid",
                            new Option.Whole(0, MAX_ID),
                            "",
                            "Group of all files as shown; by default the group in Alluxio."),
                    Option.oneOf(
                            "group_access",
                            "none",
                            "Rights that the group gets in addition to each file's mode, as Kubernetes' fsGroup"
                                    + " requires: read all files and list all directories (read), or also change them"
                                    + " (write). Only shown; nothing changes in Alluxio.",
                            "none",
                            "read",
                            "write"),
                    new Option("umask", new Option.Octal(), "0", "Permission bits removed from all files as shown.")),
            ForeignOptionHints.all());

    /** The values of a table that holds {@link #TABLE}. */
    public static AdapterOptions of(OptionValues values) {
        String spool = values.text("spool");
        Consistency consistency = Consistency.valueOf(
                values.text("consistency").toUpperCase(Locale.ROOT).replace('-', '_'));
        boolean noOpen = values.on("no_open");
        if (noOpen) {
            checkNoOpen(consistency, values.text("passthrough"));
        }
        return new AdapterOptions(
                consistency,
                noOpen,
                values.millis("metadata_ttl") * 1_000_000L,
                nanos(values.millisByPath("metadata_ttl_of")),
                values.millis("open_trust") * 1_000_000L,
                values.millis("negative_ttl") * 1_000_000L,
                values.text("write_type"),
                values.text("replace").equals("in-place"),
                values.on("short_circuit"),
                noOpen ? 0 : ownReads(values, "passthrough"),
                ownReads(values, "bypass"),
                values.on("prefetch") ? values.bytes("read_ahead") : 0,
                values.bytes("buffer_size"),
                values.text("names").equals("strict") ? NameCodec.STRICT : NameCodec.ESCAPED,
                linkErrno(values.text("link_errno")),
                values.given("cache_entries") ? (int) values.number("cache_entries") : Integer.MAX_VALUE,
                bytes(values, "cache_size", Long.MAX_VALUE),
                (int) values.number("block_files"),
                trusted(values.text("block_folders")),
                cacheFolder(values.text("cache_dir")),
                values.bytes("cache_dir_size"),
                values.millis("stale_while_away") * 1_000_000L,
                spool.isEmpty() ? StateFolder.standard().resolve("spool") : Path.of(spool),
                values.bytes("spool_size"),
                bytes(values, "spool_free", -1),
                bytes(values, "stream_from", -1),
                values.given("uid") ? (int) values.number("uid") : AttrDecoder.AS_ALLUXIO_SAYS,
                values.given("gid") ? (int) values.number("gid") : AttrDecoder.AS_ALLUXIO_SAYS,
                GroupAccess.valueOf(values.text("group_access").toUpperCase(Locale.ROOT)),
                values.octal("umask"));
    }

    private static int linkErrno(String name) {
        return switch (name) {
            case "auto" -> HardLinks.BY_USE;
            case "EPERM" -> Errno.EPERM;
            case "EXDEV" -> Errno.EXDEV;
            default -> Errno.EOPNOTSUPP;
        };
    }

    private static long bytes(OptionValues values, String name, long otherwise) {
        return values.given(name) ? values.bytes(name) : otherwise;
    }

    private static TrustedFolders trusted(String text) {
        try {
            return TrustedFolders.of(text);
        } catch (IllegalArgumentException e) {
            throw new OptionException("option block_folders=" + text + " is not allowed: " + e.getMessage()
                    + "; give absolute paths, separated by colons, or " + TrustedFolders.NONE);
        }
    }

    private static @Nullable Path cacheFolder(String text) {
        if (text.isEmpty()) {
            return null;
        }
        Path folder = Path.of(text);
        if (!folder.isAbsolute()) {
            throw new OptionException("option cache_dir=" + text + " is not allowed: give an absolute path");
        }
        return folder;
    }

    private static void checkNoOpen(Consistency consistency, String passthrough) {
        if (consistency != Consistency.IMMUTABLE) {
            throw new OptionException(
                    "option no_open (of a volume: noOpen) needs consistency=immutable, because opens then do not"
                            + " check whether a file changed; add it, or leave no_open out");
        }
        if (passthrough.equals("on")) {
            throw new OptionException(
                    "options no_open and passthrough=on exclude each other, because passthrough begins at the open;"
                            + " leave one of them out");
        }
    }

    private static Map<String, Long> nanos(Map<String, Long> millis) {
        return millis.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, each -> each.getValue() * 1_000_000L));
    }

    /** From which length on new files are streamed; {@link Long#MAX_VALUE}: never. */
    long streamFrom(boolean outlivesProcess) {
        if (streamFromBytes > 0) {
            return streamFromBytes;
        }
        return streamFromBytes == 0 || outlivesProcess ? Long.MAX_VALUE : STREAM_FROM_BYTES;
    }

    /** How long what was seen of a file is believed. */
    PathPolicies cachePolicy(Clock clock) {
        return new PathPolicies(
                consistency, metadataTtlNanos, metadataTtlNanosByPath, openTrustNanos, negativeTtlNanos, clock);
    }

    /** @param folder as {@link #openCache} opened it */
    FileReaders readers(Store store, CacheFolders.@Nullable Shared folder, Clock clock) {
        BlockFiles blocks = new BlockFiles(shortCircuit ? blockFiles : 0, blockFolders, store::mayReadBlocks);
        return new FileReaders(store, blocks, new BufferBudget(bufferBytes), readAheadBytes, folder, clock);
    }

    /**
     * Opens the folder of the data cache; null: there is none.
     *
     * @param folders of the process
     * @param goesOn the volume was served before, which goes on without a folder that cannot be used
     * @throws StoreException EINVAL: it cannot be used; the message says why, and what to do
     */
    CacheFolders.@Nullable Shared openCache(CacheFolders folders, boolean goesOn) throws StoreException {
        if (cacheFolder == null) {
            return null;
        }
        try {
            return folders.open(cacheFolder, cacheFolderBytes, goesOn);
        } catch (IOException e) {
            throw new StoreException(Errno.EINVAL, "The data cache cannot be used: " + e.getMessage(), e);
        }
    }

    /** Of whoever reads block files beside this process, which could not limit that. */
    private static long ownReads(OptionValues values, String name) {
        if (values.declares("bytes_per_second") && values.given("bytes_per_second")) {
            return 0;
        }
        return switch (values.text(name)) {
            case "on" -> 1;
            case "auto" -> OWN_READS_AUTO_BYTES;
            default -> 0;
        };
    }

    /** All as when nothing is given. */
    public static AdapterOptions defaults() {
        return of(TABLE.read(Map.of()));
    }
}
