/* What the files of the JNI border share. Only this folder knows <jni.h>. */
#ifndef PGW_JNI_H
#define PGW_JNI_H

#include <jni.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define PGW_JNI_PACKAGE "io/posixgateway/fuse/jni/"

/* writeThenRead: a write that failed is told as the errno less this. */
#define PGW_JNI_WRITE_FAILED 4096

/* A native address in Java's hands. */
static inline void *pgw_jni_pointer(jlong address) {
    return (void *)(intptr_t)address;
}

static inline jlong pgw_jni_address(const void *pointer) {
    return (jlong)(intptr_t)pointer;
}

/* A path or option text copied out of a byte[], ended by a NUL. */
struct pgw_jni_text {
    char bytes[PATH_MAX];
};

/* Copies; false: too long, or a NUL inside. */
bool pgw_jni_text_get(JNIEnv *env, jbyteArray from, struct pgw_jni_text *text);

/* Registers natives; false: a Java exception is pending. */
bool pgw_jni_register(JNIEnv *env, const char *class_name, const JNINativeMethod *methods,
                      int count);

/* Each file of the border registers its natives; called once by JNI_OnLoad. */
bool pgw_jni_system_load(JNIEnv *env);
bool pgw_jni_transport_load(JNIEnv *env, JavaVM *vm);
bool pgw_jni_bypass_load(JNIEnv *env);

#endif
