/* Natives of io.posixgateway.fuse.jni.Bypass: the gateway's end of the bypass socket. */
#include "pgw_jni.h"

#include "pgw_bypass.h"

#include <errno.h>

/* What Java reads of a question, in this order. */
enum asked_field {
    ASKED_CONNECTION,
    ASKED_PROOF,
    ASKED_FLAGS,
    ASKED_UID,
    ASKED_PID,
    ASKED_MAJOR,
    ASKED_MINOR,
    ASKED_INODE,
    ASKED_CONTENT,
    ASKED_MOST_BLOCKS,
    ASKED_LIMITED,
    ASKED_PLACE,
    ASKED_FIELDS
};

/* What Java says of a file, in this order. */
enum file_field {
    FILE_CONTENT,
    FILE_SIZE,
    FILE_BLOCK_BYTES,
    FILE_BLOCKS,
    FILE_FIRST_BLOCK,
    FILE_FIELDS
};

/* Tiers with block files. */
#define FOLDERS 16

static jlong bypass_listen(JNIEnv *env, jclass owner, jbyteArray path) {
    struct pgw_jni_text text;
    int error = ENAMETOOLONG;
    struct pgw_bypass_server *server =
        pgw_jni_text_get(env, path, &text) ? pgw_bypass_listen(text.bytes, &error) : NULL;
    (void)owner;
    return server == NULL ? -error : pgw_jni_address(server);
}

static jint bypass_next(JNIEnv *env, jclass owner, jlong server, jlongArray into) {
    struct pgw_bypass_asked asked;
    int result = pgw_bypass_next(pgw_jni_pointer(server), &asked);
    (void)owner;
    if (result == 0) {
        const jlong fields[ASKED_FIELDS] = {
            [ASKED_CONNECTION] = asked.connection,
            [ASKED_PROOF] = asked.proof,
            [ASKED_FLAGS] = asked.flags,
            [ASKED_UID] = asked.uid,
            [ASKED_PID] = asked.pid,
            [ASKED_MAJOR] = asked.major,
            [ASKED_MINOR] = asked.minor,
            [ASKED_INODE] = (jlong)asked.inode,
            [ASKED_CONTENT] = (jlong)asked.content,
            [ASKED_MOST_BLOCKS] = asked.most_blocks,
            [ASKED_LIMITED] = asked.limited ? 1 : 0,
            [ASKED_PLACE] = asked.place,
        };
        (*env)->SetLongArrayRegion(env, into, 0, ASKED_FIELDS, fields);
    }
    return result;
}

static void bypass_close_proof(JNIEnv *env, jclass owner, jint proof, jint place) {
    (void)env;
    (void)owner;
    pgw_bypass_close_proof(proof, (uint32_t)place);
}

static void bypass_stop(JNIEnv *env, jclass owner, jlong server) {
    (void)env;
    (void)owner;
    pgw_bypass_stop(pgw_jni_pointer(server));
}

static void bypass_close(JNIEnv *env, jclass owner, jlong server) {
    (void)env;
    (void)owner;
    pgw_bypass_close(pgw_jni_pointer(server));
}

static jint bypass_folder(JNIEnv *env, jclass owner, jbyteArray root, jbyteArray path) {
    struct pgw_jni_text top;
    struct pgw_jni_text text;
    (void)owner;
    return pgw_jni_text_get(env, root, &top) && pgw_jni_text_get(env, path, &text)
               ? pgw_bypass_folder(top.bytes, text.bytes)
               : -ENAMETOOLONG;
}

static jint bypass_give(JNIEnv *env, jclass owner, jint connection, jlongArray file,
                        jintArray folders) {
    jlong fields[FILE_FIELDS];
    jint fds[FOLDERS];
    jsize count = (*env)->GetArrayLength(env, folders);
    (void)owner;
    count = count < FOLDERS ? count : FOLDERS;
    (*env)->GetLongArrayRegion(env, file, 0, FILE_FIELDS, fields);
    (*env)->GetIntArrayRegion(env, folders, 0, count, fds);
    struct pgw_bypass_answer answer = {.content = (uint64_t)fields[FILE_CONTENT],
                                       .size_bytes = (uint64_t)fields[FILE_SIZE],
                                       .block_bytes = (uint64_t)fields[FILE_BLOCK_BYTES],
                                       .blocks = (uint32_t)fields[FILE_BLOCKS]};
    struct pgw_bypass_blocks blocks = {fds, count, (uint64_t)fields[FILE_FIRST_BLOCK]};
    return (jint)pgw_bypass_give(connection, &answer, &blocks);
}

static void bypass_tell(JNIEnv *env, jclass owner, jint connection, jint status) {
    (void)env;
    (void)owner;
    pgw_bypass_tell(connection, (enum pgw_bypass_status)status, NULL, 0);
}

/* Pairs of a minor device number and the least length. */
static void bypass_tell_devices(JNIEnv *env, jclass owner, jint connection, jlongArray pairs) {
    struct pgw_bypass_device devices[PGW_BYPASS_DEVICES] = {0};
    jsize count = (*env)->GetArrayLength(env, pairs) / 2;
    (void)owner;
    count = count < PGW_BYPASS_DEVICES ? count : PGW_BYPASS_DEVICES;
    for (jsize i = 0; i < count; i++) {
        jlong pair[2];
        (*env)->GetLongArrayRegion(env, pairs, 2 * i, 2, pair);
        devices[i].minor = (uint32_t)pair[0];
        devices[i].least_bytes = (uint64_t)pair[1];
    }
    pgw_bypass_tell(connection, PGW_BYPASS_DEVICES_ARE, devices, (uint32_t)count);
}

bool pgw_jni_bypass_load(JNIEnv *env) {
    static const JNINativeMethod methods[] = {
        {"listen", "([B)J", bypass_listen},
        {"next", "(J[J)I", bypass_next},
        {"stop", "(J)V", bypass_stop},
        {"close", "(J)V", bypass_close},
        {"folder", "([B[B)I", bypass_folder},
        {"give", "(I[J[I)I", bypass_give},
        {"tell", "(II)V", bypass_tell},
        {"tellDevices", "(I[J)V", bypass_tell_devices},
        {"closeProof", "(II)V", bypass_close_proof},
    };
    return pgw_jni_register(env, PGW_JNI_PACKAGE "Bypass", methods,
                            sizeof methods / sizeof methods[0]);
}
