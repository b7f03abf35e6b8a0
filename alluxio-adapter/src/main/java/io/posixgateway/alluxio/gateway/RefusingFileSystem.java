package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file system that answers every operation with EIO, those that the interface gets later included; only the end of a handle succeeds.
 * Any thread, never waits.
 */
final class RefusingFileSystem implements InvocationHandler {
    private static final Set<String> ENDS = Set.of("release", "releasedir");

    private RefusingFileSystem() {}

    static FileSystem make() {
        return (FileSystem) Proxy.newProxyInstance(
                FileSystem.class.getClassLoader(), new Class<?>[] {FileSystem.class}, new RefusingFileSystem());
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return method.invoke(this, arguments);
        }
        Class<?> answer = method.getReturnType();
        if (answer == int.class) {
            return ENDS.contains(method.getName()) ? 0 : -Errno.EIO;
        }
        if (answer == long.class) {
            return (long) -Errno.EIO;
        }
        return answer == boolean.class ? false : null;
    }
}
