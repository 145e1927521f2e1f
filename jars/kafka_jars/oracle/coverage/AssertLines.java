package kafkaoracle.coverage;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The lines of a class's assert statements, by method. Assertions are disabled here as in production, so their branches are
 * no part of what Kafka does. javac begins each with a test of {@code $assertionsDisabled}, which jumps behind it.
 */
final class AssertLines extends ClassVisitor {
    private final Map<String, Set<Integer>> lines = new HashMap<>();

    private AssertLines() {
        super(Opcodes.ASM9);
    }

    static AssertLines in(byte[] code) {
        AssertLines found = new AssertLines();
        new ClassReader(code).accept(found, ClassReader.SKIP_FRAMES);
        return found;
    }

    Set<Integer> lines(String method, String descriptor) {
        return lines.getOrDefault(method + descriptor, Set.of());
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        Set<Integer> found = new HashSet<>();
        lines.put(name + descriptor, found);
        return new MethodVisitor(Opcodes.ASM9) {
            private int line;
            private boolean begun;
            private Label end;

            @Override
            public void visitLineNumber(int number, Label start) {
                line = number;
                if (end != null) {
                    found.add(number);
                }
            }

            @Override
            public void visitFieldInsn(int opcode, String owner, String field, String type) {
                begun = opcode == Opcodes.GETSTATIC && field.equals("$assertionsDisabled");
            }

            @Override
            public void visitJumpInsn(int opcode, Label target) {
                if (begun && end == null) {
                    end = target;
                    found.add(line);
                }
                begun = false;
            }

            @Override
            public void visitLabel(Label label) {
                if (label == end) {
                    end = null;
                }
            }
        };
    }
}
