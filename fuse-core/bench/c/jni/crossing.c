/*
 * What it costs to cross between C and Java: the natives of io.posixgateway.bench.Crossing.
 *
 * The up-calls come from a thread that is not Java's, as libfuse's threads are: it is attached for
 * each call or once, and class and method are looked up for each call or once.
 */
#include <jni.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CROSSING "io/posixgateway/bench/Crossing"

enum way { JNI_COPY, CRITICAL_COPY, DIRECT_BUFFER };

struct upcalls {
    JavaVM *vm;
    jint calls;
    bool cache;
    bool defer;
    jclass target; /* global reference */
    jmethodID method;
    int64_t took_ns; /* -1: failed */
};

struct transfer {
    JNIEnv *env;
    jclass target;
    jmethodID fill_array;
    jmethodID fill_buffer;
    char *native;
    jint bytes;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool call_once(JNIEnv *env, const struct upcalls *work, jint number) {
    jclass target = work->cache ? work->target : (*env)->FindClass(env, CROSSING);
    jmethodID method = work->cache || target == NULL
                           ? work->method
                           : (*env)->GetStaticMethodID(env, target, "handle", "(II)I");
    if (target == NULL || method == NULL)
        return false;
    (*env)->CallStaticIntMethod(env, target, method, number, 64);
    if (!work->cache)
        (*env)->DeleteLocalRef(env, target);
    return !(*env)->ExceptionCheck(env);
}

static void *make_calls(void *argument) {
    struct upcalls *work = argument;
    JNIEnv *env = NULL;
    bool good = true;
    int64_t began = now_ns();
    for (jint i = 0; i < work->calls && good; i++) {
        if (env == NULL)
            good = (*work->vm)->AttachCurrentThread(work->vm, (void **)&env, NULL) == JNI_OK;
        good = good && call_once(env, work, i);
        if (!work->defer) {
            (*work->vm)->DetachCurrentThread(work->vm);
            env = NULL;
        }
    }
    work->took_ns = good ? now_ns() - began : -1;
    if (env != NULL)
        (*work->vm)->DetachCurrentThread(work->vm);
    return NULL;
}

JNIEXPORT jlong JNICALL Java_io_posixgateway_bench_Crossing_upcalls(JNIEnv *env, jclass owner,
                                                                    jint calls, jboolean cache,
                                                                    jboolean defer) {
    struct upcalls work = {.calls = calls, .cache = cache, .defer = defer, .took_ns = -1};
    pthread_t thread;
    (*env)->GetJavaVM(env, &work.vm);
    work.target = (*env)->NewGlobalRef(env, owner);
    work.method = (*env)->GetStaticMethodID(env, owner, "handle", "(II)I");
    if (work.method != NULL && pthread_create(&thread, NULL, make_calls, &work) == 0)
        pthread_join(thread, NULL);
    (*env)->DeleteGlobalRef(env, work.target);
    return work.took_ns;
}

/* Shaped like the call that enters a ring. */
JNIEXPORT jint JNICALL Java_io_posixgateway_bench_Crossing_downcall(JNIEnv *env, jclass owner,
                                                                    jlong ring, jint commits,
                                                                    jint spin_us) {
    (void)env;
    (void)owner;
    return (jint)ring + commits + spin_us;
}

static void fill_through_array(const struct transfer *with, jbyteArray array, enum way way) {
    JNIEnv *env = with->env;
    (*env)->CallStaticVoidMethod(env, with->target, with->fill_array, array);
    if (way == JNI_COPY) {
        (*env)->GetByteArrayRegion(env, array, 0, with->bytes, (jbyte *)with->native);
        return;
    }
    void *inside = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    if (inside != NULL) {
        memcpy(with->native, inside, (size_t)with->bytes);
        (*env)->ReleasePrimitiveArrayCritical(env, array, inside, JNI_ABORT);
    }
}

static jobject make_carrier(const struct transfer *with, enum way way) {
    return way == DIRECT_BUFFER
               ? (*with->env)->NewDirectByteBuffer(with->env, with->native, with->bytes)
               : (*with->env)->NewByteArray(with->env, with->bytes);
}

/* One answer of Java's into C's buffer, carried by an object that is made for it or used again. */
static bool transfer_once(const struct transfer *with, jobject reused, enum way way) {
    JNIEnv *env = with->env;
    jobject carrier = reused != NULL ? reused : make_carrier(with, way);
    if (carrier == NULL)
        return false;
    if (way == DIRECT_BUFFER)
        (*env)->CallStaticVoidMethod(env, with->target, with->fill_buffer, carrier);
    else
        fill_through_array(with, carrier, way);
    if (reused == NULL)
        (*env)->DeleteLocalRef(env, carrier);
    return !(*env)->ExceptionCheck(env);
}

JNIEXPORT jlong JNICALL Java_io_posixgateway_bench_Crossing_transfers(JNIEnv *env, jclass owner,
                                                                      jint calls, jint bytes,
                                                                      jint way, jboolean reuse) {
    struct transfer with = {
        .env = env, .target = owner, .native = calloc(1, (size_t)bytes), .bytes = bytes};
    with.fill_array = (*env)->GetStaticMethodID(env, owner, "fill", "([B)V");
    with.fill_buffer =
        with.fill_array == NULL
            ? NULL
            : (*env)->GetStaticMethodID(env, owner, "fill", "(Ljava/nio/ByteBuffer;)V");
    bool good = with.native != NULL && with.fill_buffer != NULL;
    jobject reused = good && reuse ? make_carrier(&with, (enum way)way) : NULL;
    int64_t began = now_ns();
    for (jint i = 0; i < calls && good; i++)
        good = transfer_once(&with, reused, (enum way)way);
    int64_t took_ns = now_ns() - began;
    good = good && with.native[0] == 'x' && with.native[bytes - 1] == 'x';
    free(with.native);
    return good ? took_ns : -1;
}
