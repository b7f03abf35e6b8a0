#include "pgw_jni.h"

#include <string.h>

bool pgw_jni_text_get(JNIEnv *env, jbyteArray from, struct pgw_jni_text *text) {
    jsize length = (*env)->GetArrayLength(env, from);
    if (length >= (jsize)sizeof text->bytes) {
        return false;
    }
    (*env)->GetByteArrayRegion(env, from, 0, length, (jbyte *)text->bytes);
    text->bytes[length] = '\0';
    return memchr(text->bytes, '\0', (size_t)length) == NULL;
}

bool pgw_jni_register(JNIEnv *env, const char *class_name, const JNINativeMethod *methods,
                      int count) {
    jclass owner = (*env)->FindClass(env, class_name);
    if (owner == NULL) {
        return false;
    }
    return (*env)->RegisterNatives(env, owner, methods, count) == JNI_OK;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
    JNIEnv *env = NULL;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) {
        return JNI_ERR;
    }
    return pgw_jni_system_load(env) && pgw_jni_transport_load(env, vm) && pgw_jni_bypass_load(env)
               ? JNI_VERSION_1_8
               : JNI_ERR;
}
