//! Tables of a run as Parquet files.

use super::run_directory;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The directory or file could not be made.
    #[error("cannot write {}: {error}", path.display())]
    Create {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file could not be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        error: ParquetError,
    },
}

/// Writes `NAME.parquet` into the [`run_directory`], which is made if it is not there. A file that
/// is there is replaced. The seed is in the metadata of the file.
pub(super) fn write(
    directory: &Path,
    seed: u64,
    name: &str,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<PathBuf, WriteError> {
    let directory = run_directory(directory, seed);
    let path = directory.join(format!("{name}.parquet"));
    let created = fs::create_dir_all(&directory).and_then(|()| File::create(&path));
    match created {
        Err(error) => Err(WriteError::Create { path, error }),
        Ok(file) => match write_to(file, seed, schema, batches) {
            Err(error) => Err(WriteError::Write { path, error }),
            Ok(()) => Ok(path),
        },
    }
}

fn write_to(
    file: File,
    seed: u64,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<(), ParquetError> {
    let metadata = vec![KeyValue::new("seed".to_owned(), seed.to_string())];
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata));
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties.build()))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close().map(|_| ())
}
