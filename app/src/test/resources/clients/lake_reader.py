"""A reader of the lake that has nothing in common with the one that wrote it.

python lake_reader.py SERVICES_JSON FOLDER prints for each table a line of JSON: its rows and sums of tokens as
PyIceberg scans them, the same as pyarrow reads the table's files one by one, the same of what DuckDB wrote to
FOLDER/TABLE.parquet, and its columns. It fails where they do not have the same columns of the same types.
"""
import json
import pathlib
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


def types(schema):
    return [(field.name, plain(field.type)) for field in schema]


def check(name, there, columns):
    if there != columns:
        raise SystemExit(f"{name}: {there} instead of {columns}")


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
        columns = types(schema_to_pyarrow(table.schema()))
        files = []
        for task in table.scan().plan_files():
            with table.io.new_input(task.file.file_path).open() as file:
                rows = parquet.ParquetFile(file).read()
            check(task.file.file_path, types(rows.schema), columns)
            files.append(figures(rows))
        duckdb = parquet.ParquetFile(pathlib.Path(sys.argv[2]) / f"{name[-1]}.parquet").read()
        check("DuckDB's " + name[-1], types(duckdb.schema), columns)
        scanned = figures(table.scan().to_arrow())
        print(json.dumps({
            "table": name[-1],
            "scanned": scanned,
            "files": {key: sum(each[key] for each in files) for key in scanned},
            "duckdb": figures(duckdb),
            "columns": {column: str(kind) for column, kind in columns},
        }))


main()
