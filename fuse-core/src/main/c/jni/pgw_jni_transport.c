#include "pgw_jni.h"

bool pgw_jni_transport_load(JNIEnv *env, JavaVM *vm)
{
    (void)env;
    (void)vm;
    return true;
}
