"""A reader of the lake that has nothing in common with the one that wrote it.

python lake_reader.py SERVICES_JSON prints for each table a line of JSON: its rows and sums of tokens as PyIceberg
scans them, the same as pyarrow reads the table's files one by one, and its columns.
"""
import json
import sys

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow


def plain(kind):
    """A type without what only says how it is kept in memory."""
    if pyarrow.types.is_large_string(kind):
        return pyarrow.string()
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        return pyarrow.list_(plain(kind.value_type))
    if pyarrow.types.is_map(kind):
        return pyarrow.map_(plain(kind.key_type), plain(kind.item_type))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([(field.name, plain(field.type)) for field in kind])
    return kind


def figures(rows):
    counted = {"rows": rows.num_rows}
    for name in ("prompt_tokens", "output_tokens"):
        if name in rows.column_names:
            counted[name] = compute.sum(rows[name]).as_py() or 0
    return counted


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)["settings"]
    catalog = SqlCatalog(
        "firstlight",
        **{
            "uri": settings["lake.catalog.jdbc"].replace(
                "jdbc:postgresql://", "postgresql+psycopg2://" + settings["lake.catalog.user"] + "@"),
            "s3.endpoint": settings["lake.s3.endpoint"],
            "s3.access-key-id": settings["lake.s3.accessKey"],
            "s3.secret-access-key": settings["lake.s3.secretKey"],
            "s3.region": "us-east-1",
        },
    )
    for name in sorted(catalog.list_tables("lake")):
        table = catalog.load_table(name)
        columns = {field.name: plain(field.type) for field in schema_to_pyarrow(table.schema())}
        files = []
        for task in table.scan().plan_files():
            with table.io.new_input(task.file.file_path).open() as file:
                rows = parquet.ParquetFile(file).read()
            there = {field.name: plain(field.type) for field in rows.schema}
            if there != columns:
                raise SystemExit(f"{task.file.file_path}: {there} instead of {columns}")
            files.append(figures(rows))
        print(json.dumps({
            "table": name[-1],
            "scanned": figures(table.scan().to_arrow()),
            "files": {key: sum(each[key] for each in files) for key in (files[0] if files else {})},
            "columns": list(columns),
        }))


main()
