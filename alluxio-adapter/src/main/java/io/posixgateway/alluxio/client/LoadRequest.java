package io.posixgateway.alluxio.client;

import alluxio.grpc.LoadJobPOptions;
import alluxio.job.LoadJobRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamConstants;
import java.io.ObjectStreamField;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * A load of a path as the master reads it: an object of Java's serialization, in which classes have names. In Alluxio's client
 * those of protocol buffers are called {@code alluxio.shaded.client.…}; the master knows them by their own names only, and
 * refuses what {@code FileSystem.submitJob} sends. So they are written here as they are called there.
 */
final class LoadRequest {
    private LoadRequest() {}

    static byte[] bytes(String path) {
        LoadJobPOptions options = LoadJobPOptions.newBuilder()
                .setVerify(false)
                .setPartialListing(false)
                .build();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OwnNames stream = new OwnNames(bytes)) {
            stream.writeObject(new LoadJobRequest(path, options));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // in memory
        }
        return bytes.toByteArray();
    }

    /** The form of a class is that of the Java Object Serialization Specification, 6.4.2: classDescInfo. */
    private static final class OwnNames extends ObjectOutputStream {
        private static final String SHADED = "alluxio.shaded.client.";

        OwnNames(OutputStream out) throws IOException {
            super(out);
        }

        @Override
        protected void writeClassDescriptor(ObjectStreamClass described) throws IOException {
            if (!described.getName().startsWith(SHADED)) {
                super.writeClassDescriptor(described);
                return;
            }
            writeUTF(described.getName().substring(SHADED.length()));
            writeLong(described.getSerialVersionUID());
            writeByte(ObjectStreamConstants.SC_SERIALIZABLE);
            ObjectStreamField[] fields = described.getFields();
            writeShort(fields.length);
            for (ObjectStreamField field : fields) {
                writeByte(field.getTypeCode());
                writeUTF(field.getName());
                if (!field.isPrimitive()) {
                    writeObject(field.getTypeString().replace(SHADED.replace('.', '/'), ""));
                }
            }
        }
    }
}
