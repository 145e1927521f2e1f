package kafkaoracle.spark;

import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.api.java.UDF2;

/**
 * Writes a file whose content Python made, and returns its length: as rows, its records would go through Spark one by one.
 * A task that is tried again writes the same once more. A file under its own name is complete: until then its name begins
 * with an underscore, which readers skip.
 */
public final class PutFile implements UDF2<String, byte[], Long> {
    private static final long serialVersionUID = 1;

    @Override
    public Long call(String path, byte[] content) throws Exception {
        if (path == null || content == null) {
            return null;
        }
        Path target = new Path(path);
        Path temporary = new Path(target.getParent(), "_" + target.getName() + "." + TaskContext.get().taskAttemptId());
        FileSystem files = target.getFileSystem(SparkHadoopUtil.get().conf());
        try (FSDataOutputStream out = files.create(temporary, true)) {
            out.write(content);
        }
        files.delete(target, false);
        if (!files.rename(temporary, target)) {
            throw new java.io.IOException(temporary + " could not be renamed to " + target);
        }
        return (long) content.length;
    }
}
