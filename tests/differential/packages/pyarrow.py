# files: surplus_kansas.csv
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq

table = pyarrow.csv.read_csv("surplus_kansas.csv")
print(table.schema, table.num_rows, pc.sum(table["quantity"]).as_py())
print(table.group_by("county").aggregate([("quantity", "sum"), ("acquisition_cost", "mean")]).sort_by([("quantity_sum", "descending"), ("county", "ascending")]).slice(0, 4).to_pydict())
pq.write_table(table, "table.parquet", compression="zstd")
print(pq.read_table("table.parquet", columns=["county", "quantity"], filters=[("quantity", ">", 100)]).num_rows, pq.ParquetFile("table.parquet").metadata.num_columns)
pyarrow.feather.write_feather(table, "table.feather")
print(pyarrow.feather.read_table("table.feather").equals(table), ds.dataset("table.parquet").count_rows())
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, table.schema) as writer:
    writer.write_table(table)
print(pa.ipc.open_stream(sink.getvalue()).read_all().equals(table), sorted(pa.Codec.is_available(name) for name in ("zstd", "lz4", "snappy", "brotli")))
table.to_pandas().dtypes
