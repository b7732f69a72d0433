import path from 'node:path';
import { DiagnosticCollector } from './diagnostics/collector.ts';
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import { nearest } from './diagnostics/did-you-mean.ts';
import { SourceText } from './diagnostics/source.ts';
import type { FilePort } from './files.ts';
import { FileCheck } from './files.ts';
import { readMatrix } from './matrix/read.ts';
import { setAxes, setFlagOf } from './matrix/set-axes.ts';
import { BadRows } from './matrix/table/error.ts';
import { listingName } from './matrix/table/glob.ts';
import { listingBatches } from './matrix/table/listing.ts';
import type { AxisSetting, Pipeline } from './pipeline.ts';
import { checkSchema } from './schema/check.ts';
import type { PipelineFile } from './schema/pipeline-file.generated.ts';
import { checkSettings, declaredModels } from './settings/check.ts';
import { settingsOf } from './settings/read.ts';
import { checkPrices } from './steps/checks/prices.ts';
import { finishSteps, readSteps } from './steps/read-steps.ts';
import { renderValue } from './values/value.ts';
import { toJson } from './yaml/node.ts';
import { readYaml } from './yaml/read.ts';

/** The text of a pipeline file, and where it comes from. */
export interface PipelineSource {
  /** Path as the user gave it. */
  readonly file: string;
  /** Absolute folder of the file; its paths are relative to it. */
  readonly folder: string;
  readonly text: string;
  /** Axes of the matrix that the user replaces; absent if there are none. */
  readonly set?: readonly AxisSetting[];
}

/** The result of parsing a file: a pipeline, unless a diagnostic is an error. */
export interface ParsedPipeline {
  readonly pipeline?: Pipeline;
  /** All diagnostics, without duplicates, in file order; those of tables come last. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads and checks a pipeline: YAML, then the schema, then the rules between its parts. Each stage checks every part that earlier stages
 * could read, so that one error does not hide others.
 *
 * @param files reads the headers of tables and checks images and masks; nothing else is read
 */
export async function parsePipeline(source: PipelineSource, files: FilePort): Promise<ParsedPipeline> {
  const flags = (source.set ?? []).map(setFlagOf);
  const collector = new DiagnosticCollector(new SourceText(source.file, source.text, flags));
  const pipeline = await readPipeline(source, files, collector);
  const diagnostics = collector.diagnostics();
  return { ...(pipeline === undefined ? {} : { pipeline }), diagnostics };
}

/** Parses like {@link parsePipeline} and reports to the given collector; undefined if the file has errors. */
export async function readPipeline(
  source: PipelineSource,
  files: FilePort,
  collector: DiagnosticCollector,
): Promise<Pipeline | undefined> {
  const written = readYaml(collector.source, collector);
  if (written === undefined) return undefined;
  const { set = [] } = source;
  const root = setAxes(written, set, collector);
  const stepNodes = await checkSchema(root, collector);
  checkSettings(root, collector);
  const fileCheck = new FileCheck(files, source.folder, collector, (declared) =>
    nearestFile(files, source.folder, declared),
  );
  const matrix = await readMatrix(root, source.folder, files, fileCheck, collector);
  const steps = await readSteps(stepNodes, matrix, declaredModels(root), fileCheck, collector);
  checkPrices(root, steps.steps, matrix, collector);
  if (collector.failed) return undefined;
  const file = toJson(root) as PipelineFile;
  return {
    name: file.name,
    ...(file.description === undefined ? {} : { description: file.description }),
    source: {
      file: source.file,
      folder: source.folder,
      text: source.text,
      ...(set.length === 0 ? {} : { set }),
    },
    ...settingsOf(file),
    matrix: matrix.spec,
    ...finishSteps(steps),
  };
}

/**
 * Returns the path of the file in the same folder with the name nearest to a missing one; undefined if none is near.
 *
 * @param folder absolute folder of the pipeline; the path is relative to it
 */
async function nearestFile(files: FilePort, folder: string, declared: string): Promise<string | undefined> {
  if (path.isAbsolute(declared) || /[*?[\]{}\\]/.test(declared)) return undefined;
  const within = path.posix.dirname(declared);
  if (within.split('/').includes('..')) return undefined;
  const prefix = within === '.' ? '' : `${within}/`;
  const names: string[] = [];
  try {
    for await (const { rows } of listingBatches(files, listingName(folder, `${prefix}*`), new BadRows()))
      for (const { values } of rows) names.push(path.posix.basename(renderValue(values['file'] ?? null)));
  } catch {
    // An unreadable folder gives no suggestion; the missing file is reported anyway.
    return undefined;
  }
  const near = nearest(path.posix.basename(declared), names);
  return near === undefined ? undefined : `${prefix}${near}`;
}
