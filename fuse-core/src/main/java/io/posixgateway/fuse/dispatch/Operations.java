package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.wire.Opcode;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which operation serves which opcode; an opcode without one is answered ENOSYS. */
final class Operations {
    private final @Nullable Operation[] byCode = new @Nullable Operation[Opcode.CODES];

    private Operations(Map<Opcode, Operation> table) {
        table.forEach((opcode, operation) -> byCode[opcode.code()] = operation);
    }

    /** The operation, or null. */
    @Nullable
    Operation of(Opcode opcode) {
        return byCode[opcode.code()];
    }

    /** Gathers the table. */
    static final class Builder {
        private final Map<Opcode, Operation> table = new EnumMap<>(Opcode.class);

        Builder on(Opcode opcode, Operation operation) {
            table.put(opcode, operation);
            return this;
        }

        /** For operations whose answer has no body. */
        Builder onStatus(Opcode opcode, Operation operation) {
            return on(opcode, call -> Math.min(operation.run(call), 0));
        }

        Operations build() {
            return new Operations(table);
        }
    }
}
