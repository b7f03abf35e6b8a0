package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts and unmounts: by mount(2) where this process may, else through fusermount. Any thread. */
final class Mounter {
    private static final Logger LOG = LoggerFactory.getLogger(Mounter.class);
    private static final Path FUSE_CONF = Path.of("/etc/fuse.conf");
    private static final String DEVICE = "/dev/fuse";
    private static final int KERNEL_PAGE_BYTES = 4096;
    private static final int COMPLAINT_BYTES = 512;

    private Mounter() {}

    /**
     * A mounted connection.
     *
     * @param fd its descriptor; the session closes it
     * @param target absolute, without symbolic links
     * @param device "major:minor" of the mount
     * @param direct by mount(2)
     */
    record Mounted(int fd, Path target, String device, boolean direct) {}

    static Mounted mount(Path mountPoint, SessionOptions options) throws MountException {
        Path target = usable(mountPoint);
        int fd = Native.openDevice();
        if (fd < 0 && fd != -Errno.EACCES && fd != -Errno.EPERM) {
            throw new MountException(
                    "/dev/fuse cannot be opened (" + Native.errorText(fd) + ")",
                    "load the kernel module with 'modprobe fuse'; in a container, give it the device /dev/fuse");
        }
        boolean direct = false;
        if (fd >= 0) {
            int result = Native.mountDirect(fd, texts(options, target, kernelOptions(options)), flags(options));
            direct = result == 0;
            if (result != 0) {
                Native.close(fd);
                refuseUnlessPermission(target, result);
            }
        }
        if (!direct) {
            fd = mountThroughFusermount(target, options);
        }
        try {
            return new Mounted(fd, target, device(target), direct);
        } catch (MountException e) {
            Native.close(fd); // which ends a mount that cannot be seen
            throw e;
        }
    }

    private static int flags(SessionOptions options) {
        return MountFlag.bits(options.flags()) | (options.readOnly() ? MountFlag.READ_ONLY : 0);
    }

    private static void refuseUnlessPermission(Path target, int result) throws MountException {
        if (result == -Errno.ENODEV) {
            throw new MountException("this kernel has no FUSE", "load the module with 'modprobe fuse'");
        }
        if (result != -Errno.EPERM && result != -Errno.EACCES) {
            throw new MountException(
                    "mounting at " + target + " failed (" + Native.errorText(result) + ")",
                    "look at the last lines of dmesg for the kernel's reason");
        }
    }

    private static String device(Path target) throws MountException {
        MountTable.Mount mount = find(target);
        if (mount == null) {
            throw new MountException(
                    "the mount at " + target + " disappeared at once", "check whether another program unmounts it");
        }
        return mount.device();
    }

    private static MountTable.@Nullable Mount find(Path target) throws MountException {
        try {
            return MountTable.at(target);
        } catch (IOException e) {
            throw new MountException("/proc/self/mountinfo cannot be read (" + e.getMessage() + ")", "mount /proc");
        }
    }

    /** The mount point without symbolic links. Looks at the mount table before it looks at the folder. */
    private static Path usable(Path mountPoint) throws MountException {
        Path absolute = mountPoint.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        Path name = absolute.getFileName();
        if (parent == null || name == null) {
            throw new MountException("'/' cannot be a mount point", "choose an empty folder");
        }
        try {
            Path target = parent.toRealPath().resolve(name);
            refuseMounted(target);
            if (Files.isSymbolicLink(target)) {
                target = target.toRealPath();
                refuseMounted(target);
            }
            if (!Files.readAttributes(target, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .isDirectory()) {
                throw new MountException("the mount point " + absolute + " is not a folder", "give a folder");
            }
            return target;
        } catch (NoSuchFileException e) {
            throw new MountException(
                    "the mount point " + absolute + " does not exist", "create it with 'mkdir -p " + absolute + "'");
        } catch (MountException e) {
            throw e;
        } catch (IOException e) {
            throw new MountException(
                    "the mount point " + absolute + " cannot be read (" + e + ")",
                    "if it is a dead mount, unmount it with 'umount -l'");
        }
    }

    private static void refuseMounted(Path target) throws MountException {
        MountTable.Mount there = find(target);
        if (there != null && there.isFuse()) {
            throw new MountException(
                    "the mount point " + target + " is busy: '" + there.source() + "' (" + there.type()
                            + ") is mounted there already",
                    "unmount it with 'fusermount -u " + target + "' or choose another folder");
        }
    }

    private static byte[][] texts(SessionOptions options, Path target, String mountOptions) {
        return new byte[][] {
            options.sourceName().getBytes(StandardCharsets.UTF_8),
            Native.pathBytes(target.toString()),
            mountOptions.getBytes(StandardCharsets.UTF_8)
        };
    }

    private static String kernelOptions(SessionOptions options) {
        return maxRead(options.maxWriteBytes(), Native.pageBytes())
                + (options.allowOther() ? ",allow_other" : "")
                + (options.defaultPermissions() ? ",default_permissions" : "");
    }

    /** Where pages are large, a kernel that knows no max_pages asks for more at once than a reply has room for. */
    static String maxRead(int maxWriteBytes, int pageBytes) {
        return pageBytes > KERNEL_PAGE_BYTES ? ",max_read=" + maxWriteBytes : "";
    }

    private static int mountThroughFusermount(Path target, SessionOptions options) throws MountException {
        if (options.allowOther() && !userAllowOther()) {
            throw new MountException(
                    "ordinary users may not use allow_other on this machine",
                    "add the line 'user_allow_other' to /etc/fuse.conf, or mount as root, or leave allow_other out");
        }
        if (!options.flags().containsAll(MountFlag.SAFE)) {
            throw new MountException(
                    "only root may use the options suid and dev, because programs and devices on such a mount could"
                            + " give users root's rights",
                    "mount as root, or leave them out");
        }
        String all = (options.readOnly() ? "ro" : "rw") + MountFlag.words(options.flags())
                + ",subtype=posix-gateway,fsname="
                + options.sourceName().replace("\\", "\\\\").replace(",", "\\,") + kernelOptions(options);
        ByteBuffer complaint = ByteBuffer.allocateDirect(COMPLAINT_BYTES);
        int fd = Native.mountFusermount(texts(options, target, all), complaint);
        if (fd >= 0) {
            return fd;
        }
        if (fd == -Errno.ENOENT) {
            throw new MountException(
                    "this user may not mount, and fusermount is not installed",
                    "install the package 'fuse', or mount as root");
        }
        String said = text(complaint, fd);
        throw new MountException(
                "fusermount refused to mount at " + target + " (" + said + ")",
                said.contains(DEVICE)
                        ? "let users open the device with 'chmod 666 /dev/fuse', or mount as root"
                        : "the folder must belong to you and be writable; fusermount must be setuid root");
    }

    private static String text(ByteBuffer complaint, int error) {
        StringBuilder said = new StringBuilder();
        for (int i = 0; complaint.get(i) != 0; i++) {
            said.append((char) (complaint.get(i) & 0xff));
        }
        String line = said.toString().strip().replace('\n', ';');
        return line.isEmpty() ? Native.errorText(error) : line;
    }

    private static boolean userAllowOther() {
        try {
            return Files.readAllLines(FUSE_CONF).stream()
                    .anyMatch(line -> line.strip().equals("user_allow_other"));
        } catch (IOException e) {
            LOG.debug("{} cannot be read", FUSE_CONF, e);
            return false;
        }
    }

    /** Unmounts if it still is this mount; lazily when it is busy. True: it was not busy. */
    static boolean unmount(Mounted mounted) {
        try {
            MountTable.Mount there = MountTable.at(mounted.target());
            if (there == null || !there.device().equals(mounted.device())) {
                return true;
            }
        } catch (IOException e) {
            LOG.warn("/proc/self/mountinfo cannot be read; unmounting {} anyway", mounted.target(), e);
        }
        if (unmount(mounted, false)) {
            return true;
        }
        unmount(mounted, true);
        return false;
    }

    private static boolean unmount(Mounted mounted, boolean lazy) {
        if (mounted.direct()) {
            int result = Native.unmount(Native.pathBytes(mounted.target().toString()), lazy);
            if (result != 0 && lazy) {
                LOG.error("{} could not be unmounted: {}", mounted.target(), Native.errorText(result));
            }
            return result == 0;
        }
        String flags = lazy ? "-uzq" : "-uq";
        List<String> command =
                List.of("fusermount", flags, "--", mounted.target().toString());
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            LOG.error("{} could not be unmounted: {}", mounted.target(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }
}
