# The gateway: a Java of only the modules it uses, its jars without what they carry for other systems, and the few files
# of Debian that these need. Context: the folder alluxio-adapter/target/dist; the context `scripts`: alluxio-adapter/src/main/sh;
# the contexts `native` and `docker`: fuse-core/src/main/c and docker. For another architecture (CROSS=1, with its names ARCH and
# CPU) everything is made by programs of this one, and FINAL=files leaves the class-data archive out, which only a Java that runs
# can make.
ARG BASE=docker.io/library/debian:bookworm-slim
ARG FINAL=archived

# The tag is in the argument.
# hadolint ignore=DL3006
FROM --platform=$BUILDPLATFORM ${BASE} AS build
ARG ARCH=amd64
ARG CPU=x86_64
ARG CROSS=
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN dpkg --add-architecture "$ARCH" \
    && apt-get update \
    && apt-get install -y --no-install-recommends binutils busybox-static gcc libc6-dev openjdk-17-jdk-headless zip \
    && rm -rf /var/lib/apt/lists/*

# The other architecture's compiler, its Java modules, and what the native library is linked with.
WORKDIR /cross
# hadolint ignore=DL3008
RUN [ -z "$CROSS" ] || { apt-get update \
    && apt-get install -y --no-install-recommends "crossbuild-essential-$ARCH" make pkg-config \
    && apt-get download "openjdk-17-jdk-headless:$ARCH" "liburing-dev:$ARCH" "libfuse-dev:$ARCH" \
    && for package in *.deb; do dpkg-deb -x "$package" /; done \
    && rm -rf /var/lib/apt/lists/* ./*.deb; }

# jdk.jcmd: thread dumps of a gateway that is in trouble. jdk.security.auth: how Alluxio learns its user. java.desktop: the
# beans of the web pages of a trial's master.
RUN jlink --module-path "/usr/lib/jvm/java-17-openjdk-$ARCH/jmods" \
        --output /jre --no-header-files --no-man-pages --strip-java-debug-attributes --compress=1 --add-modules \
java.base,java.compiler,java.desktop,java.instrument,java.logging,java.management,java.management.rmi,java.naming,java.net.http,\
java.security.jgss,java.security.sasl,java.sql,java.xml,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,jdk.management,\
jdk.naming.dns,jdk.net,jdk.security.auth,jdk.unsupported,jdk.zipfs \
    && "$CPU-linux-gnu-strip" --strip-unneeded /jre/lib/*.so /jre/lib/server/*.so \
    && rm -rf /jre/legal \
    && cp --remove-destination "$(readlink -f /etc/ssl/certs/java/cacerts)" /jre/lib/security/cacerts \
    && { [ -n "$CROSS" ] || /jre/bin/java -Xshare:dump -Xlog:disable; }

# Files of packages, unpacked rather than installed: no package manager in the image. The links are those of a merged /usr.
WORKDIR /packages
RUN mkdir -p /root-files/usr/bin /root-files/usr/lib /root-files/usr/lib64 /root-files/usr/sbin \
    && for folder in bin lib lib64 sbin; do ln -s "usr/$folder" "/root-files/$folder"; done \
    && apt-get update \
    && for package in libc6 libfuse2 libgcc-s1 libstdc++6 liburing2 zlib1g; do \
        apt-get download "$package:$ARCH"; done \
    && for package in *.deb; do dpkg --fsys-tarfile "$package" | tar -x -C /root-files --keep-directory-symlink; done \
    && mkdir -p /root-files/usr/share/posix-gateway && ls -- *.deb >/root-files/usr/share/posix-gateway/packages \
    && rm -rf /root-files/usr/share/doc /root-files/usr/share/man /root-files/usr/share/bug /root-files/usr/share/lintian \
        /root-files/usr/lib/*/gconv /root-files/usr/lib/*/audit /root-files/usr/lib/locale \
    && mkdir -p /root-files/etc /root-files/tmp && chmod 1777 /root-files/tmp \
    && printf 'root:x:0:0:root:/:/sbin/nologin\nposix-gateway:x:64321:64321:Alluxio POSIX Gateway:/tmp:/sbin/nologin\n' >/root-files/etc/passwd \
    && printf 'root:x:0:\nposix-gateway:x:64321:\n' >/root-files/etc/group \
    && printf 'hosts: files dns\n' >/root-files/etc/nsswitch.conf

COPY . /dist/
# hadolint ignore=DL3022
COPY --from=native . /native/
# hadolint ignore=DL3022
COPY --from=docker launch.c own.c supervise.c supervise.h /programs/
RUN [ -z "$CROSS" ] || { make -C /native CC="$CPU-linux-gnu-gcc" OUT="/cross/native/linux-$CPU" \
    && zip -q -d /dist/lib/fuse-core-*.jar 'native/*' && jar --update --file /dist/lib/fuse-core-*.jar -C /cross native; }
RUN rm -f /dist/lib/posix-gateway.jsa \
    && mkdir -p /root-files/opt/posix-gateway \
    && cp -a /dist/. /root-files/opt/posix-gateway/ \
    && cp -a /jre /root-files/opt/jre \
    && rm /root-files/opt/posix-gateway/bin/{,mount.}posix-gateway \
    && compile() { "$CPU-linux-gnu-gcc" -std=c17 -D_GNU_SOURCE -O2 -s -Wall -Wextra -Werror -o "/root-files$1" "${@:2}"; } \
    && compile /opt/posix-gateway/bin/posix-gateway /programs/launch.c /programs/supervise.c \
    && compile /usr/bin/own /programs/own.c \
    && chmod -R a+rX /root-files/opt

FROM scratch AS files
COPY --from=build /root-files/ /
ENV JAVA_HOME=/opt/jre PATH=/opt/posix-gateway/bin:/opt/jre/bin:/usr/bin

# What the classes of a started service look like once loaded, kept for the next start. The shell, whose applets are its own, is
# only here.
FROM files AS archive
COPY --from=build /bin/busybox /tmp/busybox
# hadolint ignore=DL3022
COPY --from=scripts archive-classes /tmp/archive-classes
RUN ["/tmp/busybox", "sh", "/tmp/archive-classes", "/opt/posix-gateway"]

FROM files AS archived
COPY --from=archive /opt/posix-gateway/lib/posix-gateway.jsa /opt/posix-gateway/lib/posix-gateway.jsa

# One of the stages above.
# hadolint ignore=DL3006
FROM ${FINAL}
ARG VERSION=0.0.0
LABEL org.opencontainers.image.title="Alluxio POSIX Gateway" \
      org.opencontainers.image.description="Serves Alluxio 2.x paths as FUSE mounts" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
USER 64321:64321
ENTRYPOINT ["/opt/posix-gateway/bin/posix-gateway"]
CMD ["serve"]
