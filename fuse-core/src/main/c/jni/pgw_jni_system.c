/* Natives of io.posixgateway.fuse.jni.Native: memory, descriptors, mounts, sockets, /dev/fuse. */
#include "pgw_jni.h"

#include "pgw_affinity.h"
#include "pgw_beneath.h"
#include "pgw_device.h"
#include "pgw_layout.h"
#include "pgw_life_lock.h"
#include "pgw_lock.h"
#include "pgw_memory.h"
#include "pgw_mount.h"
#include "pgw_resident.h"
#include "pgw_socket.h"
#include "pgw_wake.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies so many texts; false: one is missing or does not fit. */
static bool get_texts(JNIEnv *env, jobjectArray texts, struct pgw_jni_text *into, jsize count) {
    for (jsize i = 0; i < count; i++) {
        jbyteArray text = (*env)->GetObjectArrayElement(env, texts, i);
        bool fits = text != NULL && pgw_jni_text_get(env, text, &into[i]);
        (*env)->DeleteLocalRef(env, text);
        if (!fits) {
            return false;
        }
    }
    return true;
}

static jlong layout(JNIEnv *env, jclass owner, jbyteArray name) {
    struct pgw_jni_text text;
    (void)owner;
    return pgw_jni_text_get(env, name, &text) ? pgw_layout_find(text.bytes) : -1;
}

static jbyteArray error_bytes(JNIEnv *env, jclass owner, jint error) {
    const char *text = strerrordesc_np(error);
    const char *known = text == NULL ? "unknown error" : text;
    jsize length = (jsize)strlen(known);
    jbyteArray bytes = (*env)->NewByteArray(env, length);
    (void)owner;
    if (bytes != NULL) {
        (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)known);
    }
    return bytes;
}

static jlong map(JNIEnv *env, jclass owner, jlong bytes) {
    void *memory = pgw_memory_map((size_t)bytes);
    (void)env;
    (void)owner;
    return memory == NULL ? -errno : pgw_jni_address(memory);
}

static jlong map_shared(JNIEnv *env, jclass owner, jint fd, jlong bytes) {
    void *memory = pgw_memory_map_shared(fd, (size_t)bytes);
    (void)env;
    (void)owner;
    return memory == NULL ? -errno : pgw_jni_address(memory);
}

static jint map_at(JNIEnv *env, jclass owner, jint fd, jlong offset, jlong bytes, jlong address) {
    (void)env;
    (void)owner;
    return pgw_memory_map_at(fd, (size_t)offset, (size_t)bytes, pgw_jni_pointer(address));
}

static jint enlarge(JNIEnv *env, jclass owner, jint fd, jlong bytes) {
    struct stat status;
    (void)env;
    (void)owner;
    if (fstat(fd, &status) != 0 || (status.st_size < bytes && ftruncate(fd, bytes) != 0)) {
        return -errno;
    }
    return 0;
}

static jint discard(JNIEnv *env, jclass owner, jlong address, jlong bytes) {
    (void)env;
    (void)owner;
    return pgw_memory_discard(pgw_jni_pointer(address), (size_t)bytes);
}

static jint unmap(JNIEnv *env, jclass owner, jlong address, jlong bytes) {
    (void)env;
    (void)owner;
    return pgw_memory_unmap(pgw_jni_pointer(address), (size_t)bytes);
}

static jobject buffer(JNIEnv *env, jclass owner, jlong address, jint bytes) {
    (void)owner;
    return (*env)->NewDirectByteBuffer(env, pgw_jni_pointer(address), bytes);
}

static jint close_descriptor(JNIEnv *env, jclass owner, jint fd) {
    (void)env;
    (void)owner;
    return close(fd) != 0 ? -errno : 0;
}

static jint retire_descriptor(JNIEnv *env, jclass owner, jint fd) {
    (void)env;
    (void)owner;
    return pgw_device_retire(fd);
}

static jlong file_bytes(JNIEnv *env, jclass owner, jint fd) {
    struct stat status;
    (void)env;
    (void)owner;
    return fstat(fd, &status) != 0 ? -errno : (jlong)status.st_size;
}

/* The number in a java.io.FileDescriptor; -1: closed. */
static int descriptor_number(JNIEnv *env, jobject descriptor) {
    jclass type = (*env)->GetObjectClass(env, descriptor);
    jfieldID number = (*env)->GetFieldID(env, type, "fd", "I");
    int fd = number == NULL ? -1 : (*env)->GetIntField(env, descriptor, number);
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, type);
    return fd;
}

static jint allocate(JNIEnv *env, jclass owner, jobject descriptor, jint mode, jlong offset,
                     jlong bytes) {
    int fd = descriptor_number(env, descriptor);
    int result;
    (void)owner;
    if (fd < 0) {
        return -EBADF;
    }
    do {
        result = fallocate(fd, mode, offset, bytes);
    } while (result != 0 && errno == EINTR);
    return result != 0 ? -errno : 0;
}

static jlong seek(JNIEnv *env, jclass owner, jobject descriptor, jlong offset, jint whence) {
    int fd = descriptor_number(env, descriptor);
    off_t found = fd < 0 ? -1 : lseek(fd, offset, whence);
    (void)owner;
    if (fd < 0) {
        return -EBADF;
    }
    return found < 0 ? -errno : found;
}

static jint resident_begin(JNIEnv *env, jclass owner, jobject descriptor) {
    int fd = descriptor_number(env, descriptor);
    (void)owner;
    return fd < 0 ? -EBADF : pgw_resident_begin(fd);
}

static jint resident_read(JNIEnv *env, jclass owner, jobject descriptor, jobject into, jint at,
                          jint bytes, jlong offset) {
    int fd = descriptor_number(env, descriptor);
    char *memory = (*env)->GetDirectBufferAddress(env, into);
    (void)owner;
    if (fd < 0 || memory == NULL) {
        return fd < 0 ? -EBADF : -EINVAL;
    }
    return (jint)pgw_resident_read(fd, memory + at, (size_t)bytes, offset);
}

static jint prefetch(JNIEnv *env, jclass owner, jobject descriptor, jlong offset, jlong bytes) {
    int fd = descriptor_number(env, descriptor);
    (void)owner;
    return fd < 0 ? -EBADF : -posix_fadvise(fd, offset, bytes, POSIX_FADV_WILLNEED);
}

static jint discard_pages(JNIEnv *env, jclass owner, jobject descriptor, jlong offset,
                          jlong bytes) {
    int fd = descriptor_number(env, descriptor);
    (void)owner;
    return fd < 0 ? -EBADF : -posix_fadvise(fd, offset, bytes, POSIX_FADV_DONTNEED);
}

/* Gives a java.io.FileDescriptor that is closed this number; false: a Java exception is pending. */
static bool set_descriptor(JNIEnv *env, jobject descriptor, int fd) {
    jclass type = (*env)->GetObjectClass(env, descriptor);
    jfieldID number = (*env)->GetFieldID(env, type, "fd", "I");
    if (number != NULL) {
        (*env)->SetIntField(env, descriptor, number, fd);
    }
    (*env)->DeleteLocalRef(env, type);
    return number != NULL;
}

/* Root, folder beneath it, and name of the file. */
#define BENEATH_TEXTS 3

static jint open_beneath(JNIEnv *env, jclass owner, jobjectArray texts, jobject descriptor,
                         jlongArray identity) {
    struct pgw_jni_text text[BENEATH_TEXTS];
    struct stat status;
    int folder;
    int fd;
    (void)owner;
    if (!get_texts(env, texts, text, BENEATH_TEXTS)) {
        return -ENAMETOOLONG;
    }
    folder = pgw_beneath_folder(text[0].bytes, text[1].bytes, PGW_BENEATH_KERNEL);
    if (folder < 0) {
        return folder;
    }
    fd = pgw_beneath_file(folder, text[2].bytes, &status, PGW_BENEATH_KERNEL);
    close(folder);
    if (fd >= 0) {
        const jlong fields[] = {(jlong)status.st_dev, (jlong)status.st_ino};
        (*env)->SetLongArrayRegion(env, identity, 0, 2, fields);
        if ((*env)->ExceptionCheck(env) || !set_descriptor(env, descriptor, fd)) {
            close(fd);
            return -EINVAL;
        }
    }
    return fd < 0 ? fd : 0;
}

static jint lock_folder(JNIEnv *env, jclass owner, jbyteArray path, jlongArray identity) {
    struct pgw_jni_text text;
    struct stat status;
    int fd;
    (void)owner;
    if (!pgw_jni_text_get(env, path, &text)) {
        return -ENAMETOOLONG;
    }
    fd = pgw_lock_folder(text.bytes, &status);
    if (fd >= 0) {
        const jlong fields[] = {(jlong)status.st_dev, (jlong)status.st_ino};
        (*env)->SetLongArrayRegion(env, identity, 0, 2, fields);
        if ((*env)->ExceptionCheck(env)) {
            close(fd);
            return -EINVAL;
        }
    }
    return fd;
}

static jint is_locked(JNIEnv *env, jclass owner, jbyteArray path) {
    struct pgw_jni_text text;
    (void)owner;
    return pgw_jni_text_get(env, path, &text) ? pgw_lock_is_held(text.bytes) : -ENAMETOOLONG;
}

static jlong lock_for_life(JNIEnv *env, jclass owner, jbyteArray path) {
    struct pgw_jni_text text;
    struct pgw_life_lock *lock = NULL;
    int error = -ENAMETOOLONG;
    (void)owner;
    if (pgw_jni_text_get(env, path, &text)) {
        error = pgw_life_lock_file(text.bytes, &lock);
    }
    return error != 0 ? error : pgw_jni_address(lock);
}

static jlong lock_opened_for_life(JNIEnv *env, jclass owner, jint fd) {
    struct pgw_life_lock *lock = NULL;
    int error = pgw_life_lock_opened(fd, &lock);
    (void)env;
    (void)owner;
    return error != 0 ? error : pgw_jni_address(lock);
}

static void release_life_lock(JNIEnv *env, jclass owner, jlong lock) {
    (void)env;
    (void)owner;
    pgw_life_lock_release(pgw_jni_pointer(lock));
}

static jint open_device(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_device_open();
}

static jint clone_device(JNIEnv *env, jclass owner, jint fd) {
    (void)env;
    (void)owner;
    return pgw_device_clone(fd);
}

static jboolean is_connected(JNIEnv *env, jclass owner, jint fd) {
    (void)env;
    (void)owner;
    return pgw_device_connected(fd) ? JNI_TRUE : JNI_FALSE;
}

static jint read_message(JNIEnv *env, jclass owner, jint fd, jlong into, jint capacity) {
    (void)env;
    (void)owner;
    return (jint)pgw_device_read(fd, pgw_jni_pointer(into), (size_t)capacity);
}

static jint write_message(JNIEnv *env, jclass owner, jint fd, jlong message) {
    (void)env;
    (void)owner;
    return pgw_device_write_message(fd, pgw_jni_pointer(message));
}

static jint write_then_read(JNIEnv *env, jclass owner, jint fd, jlong message, jlong into,
                            jint capacity) {
    int written = pgw_device_write_message(fd, pgw_jni_pointer(message));
    (void)env;
    (void)owner;
    if (written != 0 && written != -ENOENT) {
        return written - PGW_JNI_WRITE_FAILED;
    }
    return (jint)pgw_device_read(fd, pgw_jni_pointer(into), (size_t)capacity);
}

static jint write_buffer(JNIEnv *env, jclass owner, jint fd, jobject message, jint bytes) {
    const void *data = (*env)->GetDirectBufferAddress(env, message);
    (void)owner;
    return data == NULL ? -EINVAL : pgw_device_write(fd, data, (size_t)bytes);
}

static jint open_backing(JNIEnv *env, jclass owner, jint fd, jobject file) {
    int number = descriptor_number(env, file);
    (void)owner;
    return number < 0 ? -EBADF : pgw_device_open_backing(fd, number);
}

static jint close_backing(JNIEnv *env, jclass owner, jint fd, jint backing_id) {
    (void)env;
    (void)owner;
    return pgw_device_close_backing(fd, backing_id);
}

static jint mount_direct(JNIEnv *env, jclass owner, jint fd, jobjectArray texts, jint flags) {
    struct pgw_jni_text text[3];
    (void)owner;
    if (!get_texts(env, texts, text, 3)) {
        return -ENAMETOOLONG;
    }
    struct pgw_mount_request request = {text[0].bytes, text[1].bytes, text[2].bytes,
                                        (unsigned long)(uint32_t)flags};
    return pgw_mount_direct(fd, &request);
}

static jint mount_fusermount(JNIEnv *env, jclass owner, jobjectArray texts, jobject complaint) {
    struct pgw_jni_text text[3];
    (void)owner;
    if (!get_texts(env, texts, text, 3)) {
        return -ENAMETOOLONG;
    }
    struct pgw_mount_request request = {text[0].bytes, text[1].bytes, text[2].bytes, false};
    return pgw_mount_fusermount("fusermount", &request,
                                (*env)->GetDirectBufferAddress(env, complaint),
                                (size_t)(*env)->GetDirectBufferCapacity(env, complaint));
}

static jint unmount(JNIEnv *env, jclass owner, jbyteArray target, jboolean lazy) {
    struct pgw_jni_text text;
    (void)owner;
    return pgw_jni_text_get(env, target, &text) ? pgw_mount_unmount(text.bytes, lazy == JNI_TRUE)
                                                : -ENAMETOOLONG;
}

static jint install_wake(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_wake_install();
}

static jint current_thread(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_wake_self();
}

static jint unpin(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_affinity_none();
}

static jint wake_thread(JNIEnv *env, jclass owner, jint thread) {
    (void)env;
    (void)owner;
    return pgw_wake_thread(thread);
}

static jint connect_unix(JNIEnv *env, jclass owner, jbyteArray path, jint timeout_ms) {
    struct pgw_jni_text text;
    (void)owner;
    return pgw_jni_text_get(env, path, &text) ? pgw_socket_connect(text.bytes, timeout_ms)
                                              : -ENAMETOOLONG;
}

static jint send_bytes(JNIEnv *env, jclass owner, jint socket, jobject data, jint bytes) {
    const void *from = (*env)->GetDirectBufferAddress(env, data);
    (void)owner;
    return from == NULL ? -EINVAL : pgw_socket_send(socket, from, (size_t)bytes);
}

static jint page_bytes(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return (jint)sysconf(_SC_PAGESIZE);
}

static jint send_with_fds(JNIEnv *env, jclass owner, jint socket, jobject data, jint bytes,
                          jintArray fds) {
    jint given[PGW_SOCKET_FDS];
    jsize count = (*env)->GetArrayLength(env, fds);
    const void *from = (*env)->GetDirectBufferAddress(env, data);
    (void)owner;
    if (from == NULL || count > PGW_SOCKET_FDS) {
        return -EINVAL;
    }
    (*env)->GetIntArrayRegion(env, fds, 0, count, given);
    return (jint)pgw_socket_send_fds(socket, from, (size_t)bytes, given, count);
}

static jint receive_bytes(JNIEnv *env, jclass owner, jint socket, jobject into, jintArray fds) {
    int received[PGW_SOCKET_FDS];
    jsize count = (*env)->GetArrayLength(env, fds);
    void *to = (*env)->GetDirectBufferAddress(env, into);
    jint bytes;
    (void)owner;
    if (to == NULL || count > PGW_SOCKET_FDS) {
        return -EINVAL;
    }
    bytes = (jint)pgw_socket_receive(socket, to, (size_t)(*env)->GetDirectBufferCapacity(env, into),
                                     received, count);
    (*env)->SetIntArrayRegion(env, fds, 0, count, received);
    return bytes;
}

static jlong peer_uid(JNIEnv *env, jclass owner, jint socket) {
    (void)env;
    (void)owner;
    return pgw_socket_peer_uid(socket);
}

bool pgw_jni_system_load(JNIEnv *env) {
    static const JNINativeMethod methods[] = {
        {"layoutOf", "([B)J", layout},
        {"errorBytes", "(I)[B", error_bytes},
        {"map", "(J)J", map},
        {"mapShared", "(IJ)J", map_shared},
        {"mapAt", "(IJJJ)I", map_at},
        {"enlarge", "(IJ)I", enlarge},
        {"discard", "(JJ)I", discard},
        {"unmap", "(JJ)I", unmap},
        {"buffer", "(JI)Ljava/nio/ByteBuffer;", buffer},
        {"close", "(I)I", close_descriptor},
        {"retire", "(I)I", retire_descriptor},
        {"fileBytes", "(I)J", file_bytes},
        {"allocate", "(Ljava/io/FileDescriptor;IJJ)I", allocate},
        {"seek", "(Ljava/io/FileDescriptor;JI)J", seek},
        {"openDevice", "()I", open_device},
        {"cloneDevice", "(I)I", clone_device},
        {"isConnected", "(I)Z", is_connected},
        {"readMessage", "(IJI)I", read_message},
        {"writeMessage", "(IJ)I", write_message},
        {"writeThenRead", "(IJJI)I", write_then_read},
        {"write", "(ILjava/nio/ByteBuffer;I)I", write_buffer},
        {"residentBegin", "(Ljava/io/FileDescriptor;)I", resident_begin},
        {"residentRead", "(Ljava/io/FileDescriptor;Ljava/nio/ByteBuffer;IIJ)I", resident_read},
        {"prefetch", "(Ljava/io/FileDescriptor;JJ)I", prefetch},
        {"discardPages", "(Ljava/io/FileDescriptor;JJ)I", discard_pages},
        {"openBeneath", "([[BLjava/io/FileDescriptor;[J)I", open_beneath},
        {"lockFolder", "([B[J)I", lock_folder},
        {"isLocked", "([B)I", is_locked},
        {"lockForLife", "([B)J", lock_for_life},
        {"lockOpenedForLife", "(I)J", lock_opened_for_life},
        {"releaseLifeLock", "(J)V", release_life_lock},
        {"openBacking", "(ILjava/io/FileDescriptor;)I", open_backing},
        {"closeBacking", "(II)I", close_backing},
        {"mountDirect", "(I[[BI)I", mount_direct},
        {"mountFusermount", "([[BLjava/nio/ByteBuffer;)I", mount_fusermount},
        {"unmount", "([BZ)I", unmount},
        {"installWake", "()I", install_wake},
        {"currentThread", "()I", current_thread},
        {"unpin", "()I", unpin},
        {"wakeThread", "(I)I", wake_thread},
        {"connectUnix", "([BI)I", connect_unix},
        {"send", "(ILjava/nio/ByteBuffer;I)I", send_bytes},
        {"pageBytes", "()I", page_bytes},
        {"sendWithFds", "(ILjava/nio/ByteBuffer;I[I)I", send_with_fds},
        {"receive", "(ILjava/nio/ByteBuffer;[I)I", receive_bytes},
        {"peerUid", "(I)J", peer_uid},
    };
    return pgw_jni_register(env, PGW_JNI_PACKAGE "Native", methods,
                            sizeof methods / sizeof methods[0]);
}
