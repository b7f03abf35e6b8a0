package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.client.file.ListStatusPartialResult;
import alluxio.client.file.URIStatus;
import alluxio.conf.InstancedConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.exception.AlluxioException;
import alluxio.grpc.BlockMasterClientServiceGrpc;
import alluxio.grpc.CreateDirectoryPOptions;
import alluxio.grpc.DeletePOptions;
import alluxio.grpc.FileSystemMasterCommonPOptions;
import alluxio.grpc.GetBlockInfoPRequest;
import alluxio.grpc.GetCapacityBytesPOptions;
import alluxio.grpc.GetConfigurationPOptions;
import alluxio.grpc.GetMasterInfoPOptions;
import alluxio.grpc.GetStatusPOptions;
import alluxio.grpc.GetUsedBytesPOptions;
import alluxio.grpc.GrpcUtils;
import alluxio.grpc.ListStatusPOptions;
import alluxio.grpc.ListStatusPartialPOptions;
import alluxio.grpc.LoadMetadataPType;
import alluxio.grpc.MasterInfoField;
import alluxio.grpc.MetaMasterClientServiceGrpc;
import alluxio.grpc.MetaMasterConfigurationServiceGrpc;
import alluxio.grpc.OpenFilePOptions;
import alluxio.grpc.SetAttributePOptions;
import alluxio.grpc.WritePType;
import alluxio.grpc.XAttrPropagationStrategy;
import alluxio.proto.journal.File.XAttrUpdateStrategy;
import alluxio.security.authorization.Mode;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import alluxio.util.ConfigurationUtils;
import alluxio.util.network.NetworkAddressUtils;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.PathLimit;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A {@link Store} over Alluxio's client: one context, that is one set of connections, per volume. */
public final class AlluxioStore implements Store {
    private static final int MAX_ASKING = 2;
    /** The master compares with the under file system first. */
    private static final FileSystemMasterCommonPOptions COMPARING =
            FileSystemMasterCommonPOptions.newBuilder().setSyncIntervalMs(0).build();

    private final FileSystemContext context;
    private final Clock clock;
    private final MasterClient master;
    private final FileSystemMaster files;
    private final Loader loader;
    private final WritePType writeType;
    private final FileCreator maker;
    private final DirectoryCreator directories;
    private final String user;
    /** For one task at a time of each worker. */
    private final ScheduledThreadPoolExecutor asking =
            new ScheduledThreadPoolExecutor(MAX_ASKING, task -> new UnpinnedThread(task, "worker-watch"));

    private final WorkerConnections connections;
    private final WorkerHealth workers;
    private final PassiveCache passiveCache;
    private final LongAdder ufsBytes = new LongAdder();
    private final OpenReaders open = new OpenReaders();
    private final LoadMetadataRaceGuard loadMetadataRaceGuard;
    private final MountPoints mountPoints;
    private final Renames renames;
    private final StatusCache recent;
    /** Are there files that no local worker has? */
    private volatile boolean streams;

    private final BlockFileReader.Opening opening = new BlockFileReader.Opening() {
        @Override
        public RangeReader ranges(URIStatus status, OpenFilePOptions how) throws AlluxioException {
            return new RangeReader(connections, workers, status, how);
        }

        @Override
        public FileStream stream(URIStatus status, OpenFilePOptions how, RangeReader ranges, BooleanSupplier isThere) {
            FileStream.Parts parts =
                    new FileStream.Parts(connections, workers, passiveCache, AlluxioStore.this::block, ufsBytes);
            return new FileStream(parts, status, how, ranges, isThere);
        }
    };

    private AlluxioStore(FileSystemContext context, StoreOptions options, String user, Clock clock) {
        this.context = context;
        this.clock = clock;
        this.loadMetadataRaceGuard = new LoadMetadataRaceGuard(clock);
        this.recent = new StatusCache(clock, open);
        this.master = new MasterClient(context, mostCalls(), clock);
        this.files = new FileSystemMaster(context, master);
        this.directories = new DirectoryCreator(files);
        this.user = user;
        this.loader = new Loader(master);
        this.mountPoints = new MountPoints(this::mountTable, clock);
        this.writeType = WritePType.valueOf(options.writeType());
        this.renames = new Renames(files, mountPoints, loadMetadataRaceGuard, open, writeType);
        asking.setKeepAliveTime(10, TimeUnit.SECONDS);
        asking.allowCoreThreadTimeOut(true);
        asking.setRemoveOnCancelPolicy(true);
        asking.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        this.connections = new WorkerConnections(context, WorkerList.of(context, master, clock), clock);
        this.workers = new WorkerHealth(clock, new HealthProbe(connections, clock), (look, delayNanos) -> {
            Future<?> planned = asking.schedule(look, delayNanos, TimeUnit.NANOSECONDS);
            return () -> planned.cancel(false);
        });
        this.passiveCache = new PassiveCache(connections, workers);
        this.maker = new FileCreator(context, files, new BlockStreams(context, connections.list()), workers, writeType);
        this.streams = !options.shortCircuit();
    }

    /** Sets the client up; the first connection is made by the first call. */
    public static Store open(StoreOptions options, Clock clock) throws StoreException {
        try {
            InstancedConfiguration configuration = ClientProperties.of(options);
            ChannelTable.makeRoom();
            RpcExecutor.bound();
            Login login = Login.of(options, configuration);
            FileSystemContext context = FileSystemContext.create(login.subject(), configuration);
            return new MeteredStore(new AlluxioStore(context, options, login.user(), clock), clock);
        } catch (RuntimeException e) {
            throw new StoreException(
                    Errno.EINVAL,
                    "the Alluxio client rejects these properties: " + e.getMessage()
                            + "; correct them in --property or alluxio-site.properties",
                    e);
        }
    }

    /** What Alluxio's library asks a worker, or the master on the way. */
    private interface Call<T> {
        T run() throws IOException;
    }

    private <T> T attempt(String what, Call<T> call) throws StoreException {
        master.awaitSettings();
        try {
            return call.run();
        } catch (IOException | RuntimeException e) {
            throw ErrnoTable.exception(what, e);
        }
    }

    @Override
    public FileStatus status(String path) throws StoreException {
        MasterCall call = new MasterCall();
        return call.seen(files.status(path));
    }

    @Override
    public int longestPath(String directory) throws StoreException {
        if (writeType == WritePType.MUST_CACHE) {
            return PathLimit.NONE;
        }
        return PathLimit.ofUfs(directory, files.status(directory).getUfsPath());
    }

    @Override
    public void onMasterAbsent(Runnable listener) {
        master.onAbsent(listener);
    }

    @Override
    public void connect() throws StoreException {
        master.connect();
    }

    /** A call to the master for files, from its beginning on. */
    private final class MasterCall {
        private final long nanos = recent.nowNanos();
        private final long renames = open.renames();

        private FileStatus seen(URIStatus status) {
            if (streams) {
                recent.keep(said(status, true));
            }
            return neutral(status);
        }

        private BlockFileReader.Asked said(URIStatus status, boolean shared) {
            // What one source asked for is for its next step, however long the master took.
            return new BlockFileReader.Asked(status, shared ? nanos : recent.nowNanos(), renames);
        }
    }

    @Override
    public String pathOf(long fileId) throws StoreException {
        String path = files.pathOf(fileId);
        return path.startsWith("/") ? path : "/" + path; // taken for a drive of Windows: c:dir in the root
    }

    @Override
    public Page list(String path, String startAfter, int most) throws StoreException {
        ListStatusPartialPOptions.Builder options = ListStatusPartialPOptions.newBuilder()
                .setOptions(ListStatusPOptions.getDefaultInstance())
                .setBatchSize(most);
        if (!startAfter.isEmpty()) {
            options.setStartAfter(startAfter);
        }
        return loadMetadataRaceGuard.list(path, () -> page(path, options.build()));
    }

    @Override
    public Page listCompared(String path, int most) throws StoreException {
        ListStatusPOptions comparing = ListStatusPOptions.newBuilder()
                .setLoadMetadataType(LoadMetadataPType.ALWAYS)
                .setCommonOptions(COMPARING)
                .build();
        ListStatusPartialPOptions.Builder options = ListStatusPartialPOptions.newBuilder();
        options.setOptions(comparing).setBatchSize(most);
        return loadMetadataRaceGuard.listAnew(path, () -> page(path, options.build()));
    }

    private Page page(String path, ListStatusPartialPOptions options) throws StoreException {
        MasterCall call = new MasterCall();
        ListStatusPartialResult result = files.list(path, options);
        List<FileStatus> entries = result.getListings().stream().map(call::seen).toList();
        return new Page(entries, result.isTruncated());
    }

    @Override
    public FileStatus compared(String path) throws StoreException {
        GetStatusPOptions options =
                GetStatusPOptions.newBuilder().setCommonOptions(COMPARING).build();
        return neutral(files.status(path, options));
    }

    @Override
    public StoreWriter create(String path, int mode, Map<String, byte[]> xattrs, UUID number) throws StoreException {
        return maker.make(path, mode, proto(xattrs), number);
    }

    @Override
    public @Nullable StoreWriter overwrite(String path, long fileId) throws StoreException {
        return persists() && copiesOnRename(path) ? maker.overwrite(path, fileId) : null;
    }

    @Override
    public void makeDirectory(String path, int mode, Map<String, byte[]> xattrs) throws StoreException {
        CreateDirectoryPOptions options = CreateDirectoryPOptions.newBuilder()
                .setMode(permissions(mode))
                .setWriteType(writeType)
                .putAllXattr(proto(xattrs))
                .setXattrPropStrat(XAttrPropagationStrategy.LEAF_NODE)
                .build();
        directories.make(path, options);
    }

    @Override
    public void delete(String path) throws StoreException {
        delete(path, DeletePOptions.getDefaultInstance());
    }

    @Override
    public void forget(String path) throws StoreException {
        delete(path, DeletePOptions.newBuilder().setAlluxioOnly(true).build());
    }

    private void delete(String path, DeletePOptions options) throws StoreException {
        loadMetadataRaceGuard.take(List.of(path), () -> {
            files.delete(path, options);
            return path;
        });
    }

    @Override
    public void rename(String from, String to, boolean overFile) throws StoreException {
        renames.rename(from, to, overFile);
    }

    @Override
    public boolean copiesOnRename(String path) throws StoreException {
        return mountPoints.of(path).kind() == UfsKind.OBJECT_STORE;
    }

    @Override
    public boolean deletesToReplace(String path) throws StoreException {
        return renames.deletesToReplace(path);
    }

    @Override
    public boolean crossesMounts(String from, String to) throws StoreException {
        return !mountPoints.of(from).equals(mountPoints.of(to));
    }

    private Map<String, String> mountTable() throws StoreException {
        Map<String, String> table = new LinkedHashMap<>();
        files.mountTable().forEach((path, mount) -> table.put(path, mount.getUfsUri()));
        return table;
    }

    @Override
    public void change(String path, Change change) throws StoreException {
        SetAttributePOptions.Builder options = SetAttributePOptions.newBuilder();
        if (change.mode() != null) {
            options.setMode(permissions(change.mode()));
        }
        if (change.owner() != null) {
            options.setOwner(change.owner());
        }
        if (change.group() != null) {
            options.setGroup(change.group());
        }
        if (!change.xattrs().isEmpty()) {
            options.putAllXattr(proto(change.xattrs())).setXattrUpdateStrategy(XAttrUpdateStrategy.UNION_REPLACE);
        }
        files.setAttribute(path, options.build());
    }

    @Override
    public void removeXattr(String path, String name) throws StoreException {
        SetAttributePOptions options = SetAttributePOptions.newBuilder()
                .putXattr(name, ByteString.EMPTY)
                .setXattrUpdateStrategy(XAttrUpdateStrategy.DELETE_KEYS)
                .build();
        files.setAttribute(path, options);
    }

    @Override
    public StoreReader open(String path, long fileId) throws StoreException {
        streams = true;
        BlockFileReader.Asked known = recent.find(fileId);
        BlockFileReader.Asked asked = known == null ? askToOpen(path, fileId) : known;
        return new BlockFileReader(opening, open, asked, asking(path, fileId), false, clock);
    }

    @Override
    public StoreReader openToKeep(String path, long fileId) throws StoreException {
        return new BlockFileReader(opening, open, askToOpen(path, fileId), asking(path, fileId), true, clock);
    }

    private BlockFileReader.Asking asking(String path, long fileId) {
        return new ReadRequests(this, recent, fileId, () -> askToOpen(path, fileId));
    }

    private BlockFileReader.Asked askToOpen(String path, long fileId) throws StoreException {
        MasterCall call = new MasterCall();
        URIStatus status = statusToRead(path, fileId);
        if (status == null) {
            status = statusToRead(movedTo(path, fileId), fileId);
        }
        if (status == null) {
            throw new StoreException(Errno.ESTALE, "The open file is no longer at " + path, null);
        }
        return call.said(status, false);
    }

    /** Null: the file is not there. */
    private @Nullable URIStatus statusToRead(String path, long fileId) throws StoreException {
        try {
            URIStatus status = files.status(path);
            return status.getFileId() == fileId ? status : null;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return null;
            }
            throw e;
        }
    }

    /** Where others have renamed the file to. */
    private String movedTo(String path, long fileId) throws StoreException {
        try {
            return pathOf(fileId);
        } catch (StoreException e) {
            throw e.errno() == Errno.ENOENT
                    ? new StoreException(Errno.ESTALE, "The open file, formerly " + path + ", is gone", e)
                    : e;
        }
    }

    private BlockInfo block(long blockId) throws StoreException {
        GetBlockInfoPRequest request =
                GetBlockInfoPRequest.newBuilder().setBlockId(blockId).build();
        return GrpcUtils.fromProto(
                master.send("block " + blockId, BlockMasterClientServiceGrpc.getGetBlockInfoMethod(), request)
                        .getBlockInfo());
    }

    @Override
    public @Nullable Path localBlockFolder(String path) throws StoreException {
        URIStatus status = files.status(path);
        Optional<Path> folder = attempt(
                "find blocks of " + path, () -> Optional.ofNullable(LocalBlockLocator.folder(connections, status)));
        return folder.orElse(null);
    }

    @Override
    public @Nullable Path localBlockFolder(long blockId) throws StoreException {
        Optional<Path> folder = attempt(
                "find block " + blockId + " of the worker here",
                () -> Optional.ofNullable(LocalBlockLocator.folder(connections, blockId)));
        return folder.orElse(null);
    }

    @Override
    public int use(List<Long> blocks) throws StoreException {
        return attempt("use blocks of the worker here", () -> LocalBlockLocator.use(connections, blocks));
    }

    @Override
    public Capacity capacity() throws StoreException {
        long capacity = master.send(
                        "capacity",
                        BlockMasterClientServiceGrpc.getGetCapacityBytesMethod(),
                        GetCapacityBytesPOptions.getDefaultInstance())
                .getBytes();
        long used = master.send(
                        "capacity",
                        BlockMasterClientServiceGrpc.getGetUsedBytesMethod(),
                        GetUsedBytesPOptions.getDefaultInstance())
                .getBytes();
        return new Capacity(capacity, used);
    }

    @Override
    public String cluster() {
        return String.valueOf(ConfigurationUtils.getMasterRpcAddresses(context.getClusterConf()));
    }

    @Override
    public String clusterId() throws StoreException {
        GetMasterInfoPOptions request = GetMasterInfoPOptions.newBuilder()
                .addFilter(MasterInfoField.CLUSTER_ID)
                .build();
        String answer = master.send("cluster id", MetaMasterClientServiceGrpc.getGetMasterInfoMethod(), request)
                .getMasterInfo()
                .getClusterId();
        return recent.of(ClusterWatch.idOf(answer));
    }

    @Override
    public boolean persists() {
        return renames.persistsAtOnce();
    }

    @Override
    public FileDetails details(String path) throws StoreException {
        URIStatus status = files.status(path);
        String here = NetworkAddressUtils.getClientHostName(context.getClusterConf());
        List<FileDetails.Block> blocks = new ArrayList<>();
        for (FileBlockInfo block : status.getFileBlockInfos()) {
            List<FileDetails.Place> places = new ArrayList<>();
            for (BlockLocation location : block.getBlockInfo().getLocations()) {
                String host = location.getWorkerAddress().getHost();
                places.add(new FileDetails.Place(host, location.getTierAlias(), host.equals(here)));
            }
            blocks.add(new FileDetails.Block(
                    block.getBlockInfo().getBlockId(), block.getBlockInfo().getLength(), places));
        }
        return new FileDetails(
                neutral(status),
                status.getUfsPath(),
                status.getInAlluxioPercentage(),
                blocks,
                ContentHash.tagOf(status));
    }

    @Override
    public boolean load(String path) throws StoreException {
        return loader.begin(path);
    }

    @Override
    public LoadState loadState(String path) throws StoreException {
        return loader.state(path);
    }

    @Override
    public void stopLoad(String path) throws StoreException {
        loader.stop(path);
    }

    @Override
    public long ufsBytes() {
        return ufsBytes.sum();
    }

    @Override
    public int mostCalls() {
        return context.getClusterConf().getInt(PropertyKey.USER_FILE_MASTER_CLIENT_POOL_SIZE_MAX);
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        context.getClusterConf().toMap().forEach((name, value) -> settings.put(name, String.valueOf(value)));
        return settings;
    }

    @Override
    public List<String> advice() throws StoreException {
        Map<String, String> properties = new HashMap<>();
        master.send(
                        "configuration of Alluxio",
                        MetaMasterConfigurationServiceGrpc.getGetConfigurationMethod(),
                        GetConfigurationPOptions.getDefaultInstance())
                .getClusterConfigsList()
                .forEach(property -> properties.put(property.getName(), property.getValue()));
        return ObjectUploads.advice(files.mountTable(), properties);
    }

    @Override
    public String user() {
        return user;
    }

    @Override
    public void close() {
        asking.shutdownNow();
        passiveCache.close();
        connections.close();
        master.close();
        try {
            context.close();
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(AlluxioStore.class)
                    .warn("Closing Alluxio's client failed: {}", e.toString());
        }
    }

    private static FileStatus neutral(URIStatus status) {
        Map<String, byte[]> xattrs = status.getXAttr();
        return new FileStatus(
                status.getFileId(),
                status.getName(),
                status.isFolder(),
                status.isCompleted() || status.isFolder(),
                status.getLength(),
                status.getBlockSizeBytes(),
                status.getMode() & 0777,
                status.getOwner(),
                status.getGroup(),
                status.getLastModificationTimeMs(),
                status.getLastAccessTimeMs(),
                xattrs == null || xattrs.isEmpty() ? Map.of() : Map.copyOf(xattrs),
                (int) (status.getCreationTimeMs() / 1000),
                UfsKind.of(String.valueOf(status.getUfsPath())).names());
    }

    private static alluxio.grpc.PMode permissions(int mode) {
        return new Mode((short) (mode & 0777)).toProto();
    }

    private static Map<String, ByteString> proto(Map<String, byte[]> xattrs) {
        Map<String, ByteString> values = new LinkedHashMap<>();
        xattrs.forEach((name, value) -> values.put(name, ByteString.copyFrom(value)));
        return values;
    }
}
