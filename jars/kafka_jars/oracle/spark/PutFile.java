package kafkaoracle.spark;

import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.api.java.UDF2;

/**
 * Writes a file whose content Python has made, and gives its length: as rows, its records would go through Spark one by one.
 * A task that is tried again writes the same once more. Under its own name a file is whole: until then the name begins with a
 * low line, which makes readers pass by.
 */
public final class PutFile implements UDF2<String, byte[], Long> {
    private static final long serialVersionUID = 1;

    @Override
    public Long call(String path, byte[] content) throws Exception {
        if (path == null || content == null) {
            return null;
        }
        Path meant = new Path(path);
        Path first = new Path(meant.getParent(), "_" + meant.getName() + "." + TaskContext.get().taskAttemptId());
        FileSystem files = meant.getFileSystem(SparkHadoopUtil.get().conf());
        try (FSDataOutputStream out = files.create(first, true)) {
            out.write(content);
        }
        files.delete(meant, false);
        if (!files.rename(first, meant)) {
            throw new java.io.IOException(first + " could not be renamed to " + meant);
        }
        return (long) content.length;
    }
}
