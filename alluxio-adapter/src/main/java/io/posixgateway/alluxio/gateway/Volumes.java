package io.posixgateway.alluxio.gateway;

import com.google.protobuf.InvalidProtocolBufferException;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.time.Supervised;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The volumes this process serves, by name.
 *
 * <p>Any thread. Attach, detach and resume of one volume exclude each other by that volume's lock, which is waited for with
 * a limit; different volumes do not meet. {@code served} holds a volume exactly while its session runs here. Lock order: a
 * volume's lock, nothing else below it.
 */
public final class Volumes implements Takeover.Server {
    private static final Logger LOG = LoggerFactory.getLogger(Volumes.class);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,255}");
    private static final long LOCK_SECONDS = 20;
    /** Longer than any wait at the end of a volume, but for the copy of a deleted file that is open. */
    private static final long MAX_DRAIN_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** With more volumes, nothing more would be learned. */
    private static final int REHEARSALS = 2;

    private static final int EARLY_TRIES = 30;
    private static final long EARLY_PAUSE_NANOS = 2_000_000_000L;

    private final FileSystemFactory source;
    private final KeeperClient keeper;
    private final Path accessLogs;
    private final BypassEndpoint bypass;
    private final Map<String, ServedVolume> served = new ConcurrentHashMap<>();
    private final Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();
    private final Map<String, Prepared> prepared = new ConcurrentHashMap<>();
    private final Set<String> reported = ConcurrentHashMap.newKeySet();
    private final RefusedSessions refused;
    private final AtomicInteger rehearsals = new AtomicInteger();
    private volatile boolean serving;
    private volatile boolean draining;
    /** From when it can serve: its start, or the end of the process that it waited for. */
    private volatile Instant began;

    /**
     * @param accessLogs folder of access logs that are switched on
     * @param bypass which the caller closes
     */
    public Volumes(FileSystemFactory source, KeeperClient keeper, Path accessLogs, BypassEndpoint bypass) {
        this.bypass = bypass;
        this.accessLogs = accessLogs;
        this.source = source;
        this.keeper = keeper;
        this.refused = new RefusedSessions(keeper, source.clock());
        Instant now = source.clock().instant();
        this.began = ProcessHandle.current().info().startInstant().orElse(now);
    }

    /** The process that this one waited for has ended. */
    public void succeeds(Instant now) {
        began = now;
    }

    /** Those served now. */
    public List<ServedVolume> all() {
        return List.copyOf(served.values());
    }

    /** @throws ServiceException NOT_FOUND */
    public ServedVolume named(String name) throws ServiceException {
        ServedVolume volume = served.get(name);
        if (volume == null) {
            throw new ServiceException(Kind.NOT_FOUND, "volume '" + name + "' is not attached; attach it first");
        }
        return volume;
    }

    /** Serves the keeper's session of this name; the same request again gives the same answer. */
    public ServedVolume attach(AttachRequest request) throws ServiceException {
        Target target = target(request, false);
        return locked(request.getVolume(), () -> {
            ServedVolume there = served.get(request.getVolume());
            if (there != null && !there.session().ended()) {
                return same(there, request);
            }
            forget(there);
            return serveAndStore(request, target);
        });
    }

    /**
     * Stores the request before it takes the session: from then on this process may be all that has the connection, if the keeper
     * goes, and nothing that fails there may end it.
     */
    private ServedVolume serveAndStore(AttachRequest request, Target target) throws ServiceException {
        String name = request.getVolume();
        byte[] earlier = recorded(name);
        if (earlier.length == 0) {
            checkMemory();
        }
        boolean served = false;
        try {
            ServedVolume volume = serve(
                    request, target, isSamePlace(earlier, request), () -> keeper.store(name, request.toByteArray()));
            served = true;
            return volume;
        } finally {
            if (!served) {
                storeAgain(name, earlier);
            }
        }
    }

    /** What is served already, by whichever process, is not ended by a want of memory; nothing new is begun. */
    private void checkMemory() throws ServiceException {
        String refusal = source.memory().refuse();
        if (refusal != null) {
            throw new ServiceException(Kind.UNAVAILABLE, refusal);
        }
    }

    private byte[] recorded(String name) throws ServiceException {
        try {
            return keeper.record(name);
        } catch (KeeperException e) {
            throw refusal(e);
        }
    }

    private void storeAgain(String name, byte[] earlier) {
        try {
            keeper.store(name, earlier);
        } catch (KeeperException e) {
            LOG.debug("The stored record of session {} may have changed: {}", name, e.getMessage());
        }
    }

    /** Did an earlier process serve this place of Alluxio in this session? Then it need not be asked for again. */
    private static boolean isSamePlace(byte[] stored, AttachRequest request) {
        try {
            AttachRequest earlier = AttachRequest.parseFrom(stored);
            return earlier.getVolume().equals(request.getVolume())
                    && earlier.getAlluxioPath().equals(request.getAlluxioPath())
                    && earlier.getCluster().equals(request.getCluster());
        } catch (InvalidProtocolBufferException e) {
            return false;
        }
    }

    /**
     * Goes on with a session that an earlier process served, by the request stored with the keeper. What this version does not
     * understand of it is reported and left out: programs wait.
     */
    @Override
    public void resume(AttachRequest request) throws ServiceException {
        Target target = target(request, true);
        locked(request.getVolume(), () -> {
            ServedVolume there = served.get(request.getVolume());
            if (there != null) {
                return there;
            }
            try {
                ServedVolume volume = serve(request, target, true, () -> {});
                volume.takenOver(began);
                return volume;
            } catch (ServiceException e) {
                throw SessionStart.whyHeld(request.getVolume(), keeper, refused.record(request.getVolume()) != null, e);
            }
        });
    }

    @Override
    public boolean refuse(String name, String why) throws ServiceException {
        return locked(name, () -> served.containsKey(name) || refuseUnserved(name, recorded(name), why));
    }

    private boolean refuseUnserved(String name, byte[] record, String why) throws ServiceException {
        try {
            boolean all = refused.refuse(name, record, MountOptions.kept(source.options(Map.of()), name, false), why);
            if (draining) {
                refused.end(name); // the next process may serve it already
            }
            return all;
        } catch (KeeperException e) {
            throw refusal(e);
        } catch (MountException e) {
            throw new ServiceException(Kind.PRECONDITION, String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public void abort(String name, String why) throws ServiceException {
        locked(name, () -> {
            if (!served.containsKey(name)) {
                abortUnserved(name, why);
            }
            return name;
        });
    }

    private void abortUnserved(String name, String why) throws ServiceException {
        try {
            refused.abort(name, why);
        } catch (KeeperException e) {
            throw refusal(e);
        }
    }

    /** Sessions that answer EIO, as they cannot be served. */
    List<KeeperWatch.Served> refusedSessions() {
        return refused.served();
    }

    /** How many these are. */
    public int refused() {
        return refused.count();
    }

    /**
     * A client that is connected already.
     *
     * @param request it was connected for
     */
    private record Prepared(AttachRequest request, Store client) {}

    /** Connects to the Alluxio of a volume that another process serves and this one may serve later; once, unless it changes. */
    @Override
    public void prepare(AttachRequest request) throws ServiceException {
        Prepared there = prepared.get(request.getVolume());
        if (there == null || !there.request().equals(request)) {
            Target target = target(request, true);
            if (rehearsals.getAndIncrement() < REHEARSALS) {
                try (AlluxioFileSystem files = source.openBeside(target.place(), target.options())) {
                    JvmWarmup.use(files, source.clock());
                }
            }
            Store client = source.connect(target.place(), target.options());
            discard(prepared.put(request.getVolume(), new Prepared(request, client)));
            LOG.debug("Volume {} can be taken over", request.getVolume());
            if (serving) {
                endPreparation();
            }
        }
    }

    /**
     * While there is no volume yet, connects once to the Alluxio that the site properties name: a process does so much faster
     * the second time, and programs wait for the first volume. Waits until that Alluxio is up, some minutes at most.
     */
    public void connectEarly() {
        for (int tries = 0; tries < EARLY_TRIES && source.namesMasters() && served.isEmpty() && !draining; tries++) {
            try {
                source.open(new AlluxioOptions("", "/", "", Map.of()), source.options(Map.of()))
                        .close();
                LOG.debug("Connected to Alluxio before the first volume");
                return;
            } catch (ServiceException e) {
                LOG.debug("Alluxio does not answer yet", e);
            }
            try {
                source.clock().sleep(EARLY_PAUSE_NANOS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Lets go of clients that were not needed. */
    @Override
    public void endPreparation() {
        serving = true;
        prepared.keySet().forEach(name -> discard(prepared.remove(name)));
    }

    /** Of what was prepared only these volumes are still there. */
    @Override
    public void discardAllBut(Set<String> names) {
        prepared.values().stream()
                .map(one -> one.request().getVolume())
                .filter(name -> !names.contains(name))
                .forEach(name -> {
                    LOG.debug("Volume {} has ended", name);
                    discard(prepared.remove(name));
                });
    }

    private static void discard(@Nullable Prepared unused) {
        if (unused != null) {
            unused.client().close();
        }
    }

    private @Nullable Store prepared(AttachRequest request) {
        Prepared there = prepared.remove(request.getVolume());
        if (there == null || there.request().equals(request)) {
            return there == null ? null : there.client();
        }
        discard(there);
        return null;
    }

    /** Stops serving and forgets; nothing there is success. */
    public void detach(String name) throws ServiceException {
        checkName(name);
        locked(name, () -> {
            ServedVolume there = served.get(name);
            forget(there);
            refused.end(name);
            try {
                keeper.store(name, new byte[0]);
            } catch (KeeperException e) {
                if (!e.code().equals("not_found")) {
                    throw refusal(e);
                }
            }
            LOG.info("Volume {} was detached", name);
            return name;
        });
    }

    /**
     * Takes no more volumes, ends those there are, and leaves their sessions with the keeper; how many there were. One that does not end,
     * such as by a call that nothing interrupts, does not keep the others from the next process: that one waits for this one's end.
     */
    public int drain() {
        draining = true;
        long began = source.clock().nanos();
        List<ServedVolume> volumes = all();
        List<Runnable> ends =
                volumes.stream().<Runnable>map(volume -> () -> leave(volume)).toList();
        if (!Supervised.together("leaving", ends, source.clock(), MAX_DRAIN_NANOS)) {
            LOG.error(
                    "Volumes {} do not end; they are left to the next process as they are",
                    all().stream().map(ServedVolume::name).toList());
        }
        refused.endAll();
        long tookMillis = (source.clock().nanos() - began) / 1_000_000;
        if (!volumes.isEmpty()) {
            LOG.info("{} volumes are left to the next process ({} ms)", volumes.size(), tookMillis);
        }
        return volumes.size();
    }

    private interface KeeperStep {
        void run() throws KeeperException;
    }

    /** @param before the session is taken, and after its place in Alluxio was found */
    private ServedVolume serve(AttachRequest request, Target target, boolean goesOn, KeeperStep before)
            throws ServiceException {
        String name = request.getVolume();
        byte[] refusedBefore = refused.record(name);
        try {
            return serveNow(request, target, goesOn, before);
        } catch (ServiceException e) {
            if (refusedBefore != null && refused.record(name) == null) {
                refuseUnserved(name, refusedBefore, String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private ServedVolume serveNow(AttachRequest request, Target target, boolean goesOn, KeeperStep before)
            throws ServiceException {
        String name = request.getVolume();
        long began = source.clock().nanos();
        AlluxioMount.Opening how = new AlluxioMount.Opening(prepared(request), goesOn);
        AlluxioFileSystem files = source.openPersistent(target.place(), target.options(), name, how);
        if (goesOn) {
            Supervised.start("connecting", "Connecting to Alluxio", () -> connect(files, request.getAlluxioPath()));
        }
        FuseSession session = null;
        boolean serves = false;
        try {
            PersistentSession kept = taken(name, files, before);
            session = FuseSession.serve(files, kept, optionsOf(kept, request, target.options()), source.clock());
            ServedVolume volume = new ServedVolume(
                    new ServedVolume.Parts(request, files, session, accessLogs.resolve(name + ".log")),
                    ServedVolume.capacity(files, source.clock()),
                    WatchLimits.of(target.options()),
                    kept.takes());
            served.put(name, volume);
            serves = true;
            bypass.add(volume);
            long tookMillis = (source.clock().nanos() - began) / 1_000_000;
            LOG.info("Volume {} serves {} ({} ms): {}", name, request.getAlluxioPath(), tookMillis, session.line());
            return volume;
        } catch (KeeperException e) {
            throw refusal(e);
        } catch (StoreException e) {
            throw new ServiceException(
                    Kind.UNAVAILABLE, "volume " + name + " cannot be taken over yet: " + e.getMessage(), e);
        } catch (MountException | RuntimeException e) {
            throw new ServiceException(Kind.PRECONDITION, "volume " + name + " cannot be served: " + e.getMessage(), e);
        } finally {
            if (!serves) {
                abandon(files, session);
            }
        }
    }

    /** @param kept closed when this throws: what is claimed for good can never be served */
    private static SessionOptions optionsOf(PersistentSession kept, AttachRequest request, OptionValues options) {
        try {
            return MountOptions.kept(options, request.getVolume(), request.getReadOnly() || kept.readOnly());
        } catch (RuntimeException | Error e) {
            kept.close();
            throw e;
        }
    }

    /** Taken first: were the keeper to end meanwhile, nobody else would hold the mount of a session that is refused. */
    private PersistentSession taken(String name, AlluxioFileSystem files, KeeperStep before)
            throws KeeperException, ServiceException, StoreException, MountException {
        before.run();
        PersistentSession kept = keeper.take(name);
        refused.end(name);
        return SessionStart.resume(name, files, kept);
    }

    /** The first call makes the connection; better now than when somebody waits for it. */
    private static void connect(AlluxioFileSystem files, String path) {
        try {
            files.store().status(files.names().storedPath(path));
        } catch (StoreException e) {
            LOG.debug("Alluxio does not answer yet", e);
        }
    }

    private static void abandon(AlluxioFileSystem files, @Nullable FuseSession session) {
        files.leaveToNext();
        if (session != null) {
            session.close();
        }
        files.close();
    }

    private void leave(ServedVolume volume) {
        bypass.remove(volume);
        volume.accessLog().close();
        volume.leaveToNext();
        served.remove(volume.name(), volume);
    }

    private void forget(@Nullable ServedVolume volume) {
        if (volume != null) {
            bypass.remove(volume);
            volume.accessLog().close();
            volume.session().close();
            served.remove(volume.name(), volume);
        }
    }

    private static ServedVolume same(ServedVolume there, AttachRequest request) throws ServiceException {
        if (!there.request().equals(request)) {
            throw new ServiceException(
                    Kind.EXISTS,
                    "volume '" + request.getVolume() + "' is already attached with other properties; detach it first");
        }
        return there;
    }

    /** What to open, and how. */
    private record Target(AlluxioOptions place, OptionValues options) {}

    /** Those that pass the check alone; the others, which another version wrote, are reported once. */
    private Map<String, String> understood(
            String volume, Map<String, String> given, Consumer<Map<String, String>> check) {
        Map<String, String> known = new LinkedHashMap<>(given);
        given.forEach((name, value) -> {
            try {
                check.accept(Map.of(name, value));
            } catch (OptionException e) {
                known.remove(name);
                if (reported.add(volume + ' ' + name + '=' + value)) {
                    LOG.error(
                            "Volume {} was attached by another version with {}={}, which has no effect here: {}",
                            volume,
                            name,
                            value,
                            e.getMessage());
                }
            }
        });
        return known;
    }

    /**
     * Checks everything in a request that can be checked without asking anybody.
     *
     * @param kept it was stored by whoever served the session before, perhaps of another version
     */
    private Target target(AttachRequest request, boolean kept) throws ServiceException {
        checkName(request.getVolume());
        try {
            FileTree.names(request.getAlluxioPath(), NameCodec.ESCAPED);
            Map<String, String> properties = request.getCluster().getPropertiesMap();
            Map<String, String> options = request.getOptionsMap();
            if (kept) {
                properties = understood(request.getVolume(), properties, FileSystemFactory::checkProperties);
                options = understood(request.getVolume(), options, source::options);
            } else {
                FileSystemFactory.checkProperties(properties);
                warnOfEarlierNames(request);
            }
            AlluxioOptions place = new AlluxioOptions(
                    request.getCluster().getMasters(),
                    request.getAlluxioPath(),
                    request.getCluster().getUser(),
                    properties);
            return new Target(place, source.options(options));
        } catch (OptionException | TreeException e) {
            throw new ServiceException(Kind.INVALID, String.valueOf(e.getMessage()), e);
        }
    }

    /** Once for each volume: an attach may be repeated. */
    private void warnOfEarlierNames(AttachRequest request) {
        FileSystemFactory.OPTIONS.renamedIn(request.getOptionsMap()).stream()
                .filter(text -> reported.add(request.getVolume() + ' ' + text))
                .forEach(text -> LOG.warn("Volume {}: {}", request.getVolume(), text));
    }

    private static void checkName(String name) throws ServiceException {
        if (!NAME.matcher(name).matches()) {
            throw new ServiceException(
                    Kind.INVALID,
                    "volume name '" + name + "' is not allowed; give 1 to 255 of the characters A-Z a-z 0-9 . _ : -");
        }
    }

    private interface Step<T> {
        T run() throws ServiceException;
    }

    private <T> T locked(String name, Step<T> step) throws ServiceException {
        ReentrantLock lock = locks.computeIfAbsent(name, key -> new ReentrantLock());
        try {
            if (!lock.tryLock(LOCK_SECONDS, TimeUnit.SECONDS)) {
                throw new ServiceException(
                        Kind.ABORTED,
                        "another call for volume '" + name + "' is in progress; retry when it has finished");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServiceException(Kind.ABORTED, "interrupted", e);
        }
        try {
            if (draining) {
                throw new ServiceException(
                        Kind.UNAVAILABLE, "this gateway is shutting down; retry, and its successor will answer");
            }
            return step.run();
        } finally {
            lock.unlock();
        }
    }

    private static ServiceException refusal(KeeperException e) {
        Kind kind =
                switch (e.code()) {
                    case "not_found" -> Kind.NOT_FOUND;
                    case "exists" -> Kind.EXISTS;
                    case "invalid" -> Kind.INVALID;
                    case KeeperException.UNAVAILABLE -> Kind.UNAVAILABLE;
                    default -> Kind.PRECONDITION;
                };
        return new ServiceException(kind, String.valueOf(e.getMessage()), e);
    }
}
