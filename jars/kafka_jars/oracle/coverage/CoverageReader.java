package kafkaoracle.coverage;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jacoco.agent.rt.RT;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.analysis.ICounter;
import org.jacoco.core.analysis.ILine;
import org.jacoco.core.analysis.IMethodCoverage;
import org.jacoco.core.data.ExecutionDataReader;
import org.jacoco.core.data.ExecutionDataStore;
import org.jacoco.core.data.SessionInfoStore;

/** Reads from JaCoCo's agent, which this JVM was started with, which lines and branches of Kafka's classes have run. */
public final class CoverageReader {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Counts from here on. */
    public void reset() {
        RT.getAgent().reset();
    }

    /**
     * The lines and branches of these classes, and of the classes nested in them, as JSON: methods by class, each class from
     * the first of the jars that has it. A class that ran in another form than the jar's is an error. Both parameters are
     * texts with a name a line; a class is named with slashes.
     */
    public String read(String jars, String classes) throws Exception {
        ExecutionDataStore executed = new ExecutionDataStore();
        ExecutionDataReader reader = new ExecutionDataReader(new ByteArrayInputStream(RT.getAgent().getExecutionData(false)));
        reader.setSessionInfoVisitor(new SessionInfoStore());
        reader.setExecutionDataVisitor(executed);
        reader.read();
        CoverageBuilder builder = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(executed, builder);
        Set<String> wanted = Set.of(classes.split("\n"));
        Map<String, AssertLines> found = new HashMap<>();
        for (String jar : jars.split("\n")) {
            analyze(jar, wanted, found, analyzer);
        }
        if (!builder.getNoMatchClasses().isEmpty()) {
            throw new IllegalStateException("another class than the jar's has run: " + builder.getNoMatchClasses());
        }
        Map<String, List<Map<String, Object>>> counted = new TreeMap<>();
        for (IClassCoverage each : builder.getClasses()) {
            List<Map<String, Object>> methods = new ArrayList<>();
            AssertLines asserts = found.get(each.getName());
            each.getMethods().forEach(method -> methods.add(counts(method, asserts.lines(method.getName(), method.getDesc()))));
            counted.put(each.getName(), methods);
        }
        return JSON.writeValueAsString(counted);
    }

    private static void analyze(String jar, Set<String> wanted, Map<String, AssertLines> found, Analyzer analyzer) throws Exception {
        try (JarFile file = new JarFile(jar)) {
            for (JarEntry entry : Collections.list(file.entries())) {
                String name = entry.getName();
                String type = name.endsWith(".class") ? name.substring(0, name.length() - ".class".length()) : "";
                int nested = type.indexOf('$', type.lastIndexOf('/') + 2);
                if (wanted.contains(nested < 0 ? type : type.substring(0, nested)) && !found.containsKey(type)) {
                    try (InputStream code = file.getInputStream(entry)) {
                        byte[] read = code.readAllBytes();
                        analyzer.analyzeClass(read, jar);
                        found.put(type, AssertLines.in(read));
                    }
                }
            }
        }
    }

    /** One method: its name and descriptor, the lines of its code, those that never ran, and branches by line; no asserts. */
    private static Map<String, Object> counts(IMethodCoverage method, Set<Integer> asserts) {
        List<Integer> lines = new ArrayList<>();
        List<Integer> missed = new ArrayList<>();
        List<List<Integer>> branches = new ArrayList<>();
        for (int number = method.getFirstLine(); number >= 0 && number <= method.getLastLine(); number++) {
            ILine line = method.getLine(number);
            if (line.getStatus() == ICounter.EMPTY || asserts.contains(number)) {
                continue;
            }
            lines.add(number);
            if (line.getInstructionCounter().getCoveredCount() == 0) {
                missed.add(number);
            }
            if (line.getBranchCounter().getTotalCount() > 0) {
                branches.add(List.of(number, line.getBranchCounter().getCoveredCount(), line.getBranchCounter().getTotalCount()));
            }
        }
        return Map.of("name", method.getName(), "descriptor", method.getDesc(), "lines", lines, "missed", missed,
            "branches", branches);
    }
}
