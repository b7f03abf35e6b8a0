/* Natives of Uring and Libfuse in io.posixgateway.fuse.jni, and the up-calls of libfuse's threads.
 */
#include "pgw_jni.h"

#include "pgw_device.h"
#include "pgw_libfuse.h"
#include "pgw_sched_idle.h"
#include "pgw_uring.h"
#include "pgw_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static JavaVM *java_vm;
static jmethodID upcall_enter;
static jmethodID upcall_handle;
static jmethodID upcall_leave;

/* A libfuse session in Java's hands. */
struct served {
    struct pgw_libfuse_hooks hooks;
    struct pgw_libfuse *session;
    jobject target; /* global reference */
    int fd;
    char *memory;
    size_t stride;
    size_t reply_at;
};

/* The environment of a thread of libfuse, which becomes one of Java's at its first call. NULL:
 * refused. */
static JNIEnv *attached(void) {
    JNIEnv *env = NULL;
    JavaVMAttachArgs arguments = {JNI_VERSION_1_8, "pgw-libfuse", NULL};
    if ((*java_vm)->GetEnv(java_vm, (void **)&env, JNI_VERSION_1_8) == JNI_OK) {
        return env;
    }
    return (*java_vm)->AttachCurrentThreadAsDaemon(java_vm, (void **)&env, &arguments) == JNI_OK
               ? env
               : NULL;
}

/* Logs and clears what an up-call threw. */
static bool threw(JNIEnv *env) {
    if (!(*env)->ExceptionCheck(env)) {
        return false;
    }
    (*env)->ExceptionDescribe(env);
    (*env)->ExceptionClear(env);
    return true;
}

static bool lane_enter(void *owner, struct pgw_libfuse_lane *lane) {
    struct served *served = owner;
    JNIEnv *env = attached();
    jlong entered;
    if (env == NULL) {
        return false;
    }
    entered = (*env)->CallLongMethod(env, served->target, upcall_enter);
    if (threw(env) || entered < 0) {
        return false;
    }
    lane->number = (int)(entered >> 32);
    lane->slot = served->memory + (size_t)(entered & INT32_MAX) * served->stride;
    return true;
}

static void lane_handle(void *owner, struct pgw_libfuse_lane *lane, size_t bytes) {
    struct served *served = owner;
    JNIEnv *env = attached();
    char *reply = lane->slot + served->reply_at;
    jint next =
        (*env)->CallIntMethod(env, served->target, upcall_handle, lane->number, (jint)bytes);
    if (threw(env)) {
        const struct pgw_in_header *request = (const void *)lane->slot;
        const struct pgw_out_header failed = {sizeof failed, -EIO, request->unique};
        memcpy(reply, &failed, sizeof failed);
        lane->reply = reply;
        return;
    }
    if ((next & 1) != 0) {
        lane->reply = reply;
    }
    lane->slot = served->memory + (size_t)(next >> 1) * served->stride;
}

static void lane_leave(void *owner, struct pgw_libfuse_lane *lane) {
    struct served *served = owner;
    JNIEnv *env = attached();
    if (env != NULL) {
        (*env)->CallVoidMethod(env, served->target, upcall_leave, lane->number);
        threw(env);
        (*java_vm)->DetachCurrentThread(java_vm);
    }
}

static jint libfuse_probe(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_libfuse_probe();
}

static jlong libfuse_open(JNIEnv *env, jclass owner, jint fd, jobject target, jlongArray geometry) {
    jlong numbers[4];
    struct served *served = calloc(1, sizeof *served);
    (void)owner;
    if (served == NULL) {
        return -ENOMEM;
    }
    (*env)->GetLongArrayRegion(env, geometry, 0, 4, numbers);
    served->memory = pgw_jni_pointer(numbers[0]);
    served->stride = (size_t)numbers[1];
    served->reply_at = (size_t)numbers[2];
    served->hooks =
        (struct pgw_libfuse_hooks){(size_t)numbers[3], lane_enter, lane_handle, lane_leave};
    served->target = (*env)->NewGlobalRef(env, target);
    served->session = pgw_libfuse_open(fd, &served->hooks, served);
    if (served->session == NULL) {
        (*env)->DeleteGlobalRef(env, served->target);
        free(served);
        return -ENOSYS;
    }
    return pgw_jni_address(served);
}

static jint libfuse_run(JNIEnv *env, jclass owner, jlong handle) {
    struct served *served = pgw_jni_pointer(handle);
    (void)env;
    (void)owner;
    return pgw_libfuse_run(served->session);
}

static void libfuse_stop(JNIEnv *env, jclass owner, jlong handle) {
    struct served *served = pgw_jni_pointer(handle);
    (void)env;
    (void)owner;
    pgw_libfuse_stop(served->session);
}

static void libfuse_close(JNIEnv *env, jclass owner, jlong handle) {
    struct served *served = pgw_jni_pointer(handle);
    (void)owner;
    pgw_libfuse_close(served->session);
    (*env)->DeleteGlobalRef(env, served->target);
    free(served);
}

static jint uring_probe(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_uring_probe();
}

static jboolean uring_can_demote(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_sched_idle_possible() ? JNI_TRUE : JNI_FALSE;
}

static jint uring_queues(JNIEnv *env, jclass owner) {
    (void)env;
    (void)owner;
    return pgw_uring_queues();
}

static jlong uring_open(JNIEnv *env, jclass owner, jlongArray numbers, jobject box) {
    jlong number[8];
    struct pgw_uring_geometry geometry;
    struct pgw_uring *ring;
    int error;
    (void)owner;
    (*env)->GetLongArrayRegion(env, numbers, 0, 8, number);
    geometry = (struct pgw_uring_geometry){.fd = (int)number[0],
                                           .queue = (uint16_t)number[1],
                                           .depth = (int)number[2],
                                           .memory = pgw_jni_pointer(number[3]),
                                           .payload_bytes = (size_t)number[4],
                                           .demote = number[5] != 0,
                                           .kept = number[6] != 0,
                                           .taken = number[6] == 2,
                                           .most = (int)number[7],
                                           .box = (*env)->GetDirectBufferAddress(env, box)};
    ring = pgw_uring_open(&geometry, &error);
    return ring == NULL ? error : pgw_jni_address(ring);
}

static jint uring_enter(JNIEnv *env, jclass owner, jlong ring, jint commits, jint spin_us) {
    (void)env;
    (void)owner;
    return pgw_uring_enter(pgw_jni_pointer(ring), commits, spin_us);
}

static void uring_grow(JNIEnv *env, jclass owner, jlong ring, jlong memory, jint count) {
    (void)env;
    (void)owner;
    pgw_uring_grow(pgw_jni_pointer(ring), pgw_jni_pointer(memory), count);
}

static void uring_flush(JNIEnv *env, jclass owner, jlong ring, jint commits) {
    (void)env;
    (void)owner;
    pgw_uring_flush(pgw_jni_pointer(ring), commits);
}

static void uring_wake(JNIEnv *env, jclass owner, jlong ring) {
    (void)env;
    (void)owner;
    pgw_uring_wake(pgw_jni_pointer(ring));
}

static void uring_close(JNIEnv *env, jclass owner, jlong ring) {
    (void)env;
    (void)owner;
    pgw_uring_close(pgw_jni_pointer(ring));
}

static bool find_upcalls(JNIEnv *env) {
    jclass target = (*env)->FindClass(env, PGW_JNI_PACKAGE "Libfuse$Target");
    if (target == NULL) {
        return false;
    }
    upcall_enter = (*env)->GetMethodID(env, target, "enter", "()J");
    upcall_handle =
        upcall_enter == NULL ? NULL : (*env)->GetMethodID(env, target, "handle", "(II)I");
    upcall_leave = upcall_handle == NULL ? NULL : (*env)->GetMethodID(env, target, "leave", "(I)V");
    return upcall_leave != NULL;
}

bool pgw_jni_transport_load(JNIEnv *env, JavaVM *vm) {
    static const JNINativeMethod libfuse[] = {
        {"probe", "()I", libfuse_probe},
        {"open", "(IL" PGW_JNI_PACKAGE "Libfuse$Target;[J)J", libfuse_open},
        {"run", "(J)I", libfuse_run},
        {"stop", "(J)V", libfuse_stop},
        {"close", "(J)V", libfuse_close},
    };
    static const JNINativeMethod uring[] = {
        {"probe", "()I", uring_probe},    {"canStandBack", "()Z", uring_can_demote},
        {"queues", "()I", uring_queues},  {"open", "([JLjava/nio/ByteBuffer;)J", uring_open},
        {"enter", "(JII)I", uring_enter}, {"flush", "(JI)V", uring_flush},
        {"wake", "(J)V", uring_wake},     {"close", "(J)V", uring_close},
        {"grow", "(JJI)V", uring_grow},
    };
    java_vm = vm;
    return find_upcalls(env) &&
           pgw_jni_register(env, PGW_JNI_PACKAGE "Libfuse", libfuse,
                            sizeof libfuse / sizeof libfuse[0]) &&
           pgw_jni_register(env, PGW_JNI_PACKAGE "Uring", uring, sizeof uring / sizeof uring[0]);
}
