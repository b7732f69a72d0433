import { relative, resolve } from 'node:path';
import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import type { JsonOutputs, ShownDiagnostic } from '../facts/json-outputs.generated.ts';
import { count } from './amounts.ts';

/** What `validate --json` prints. */
export type Validation = JsonOutputs['validate'];

/** A pipeline file, and every mistake that was found in it and in its tables. */
export type CheckedFile = Validation['files'][number];

/** A diagnostic as JSON has it. */
export const shownDiagnostic = ({
  severity,
  code,
  message,
  hint,
  file,
  line,
  column,
  length,
}: Diagnostic): ShownDiagnostic => ({
  severity,
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
  file,
  line,
  column,
  length,
});

/** A flag has no line in a file: its mistake is shown at the beginning of the pipeline. */
const isFlag = ({ file }: ShownDiagnostic): boolean => file.startsWith('--set ');

/** What a service said of a pipeline: of the models that it asks, and of its image tasks. */
export type ModelCheck = NonNullable<CheckedFile['online']>;

/** What `validate` found in one file. @param isValid a pipeline could be planned from it */
export function checkedFile(
  file: string,
  diagnostics: readonly Diagnostic[],
  isValid: boolean,
  online?: ModelCheck,
): CheckedFile {
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning').length;
  return {
    file,
    valid: isValid,
    errors: diagnostics.length - warnings,
    warnings,
    diagnostics: diagnostics.map(shownDiagnostic),
    ...(online === undefined ? {} : { online }),
  };
}

/**
 * The diagnostics as workflow commands of GitHub Actions, which shows each beside its line: one command a line.
 *
 * @param places the current folder, and the folder of the checkout (`GITHUB_WORKSPACE`), which annotations name files from
 */
export function githubCommands(
  { files }: Validation,
  places: { readonly cwd: string; readonly workspace?: string | undefined },
): string {
  const place = (file: string): string => {
    const path = resolve(places.cwd, file);
    return relative(places.workspace ?? places.cwd, path).replaceAll('\\', '/');
  };
  return files
    .flatMap(({ file, diagnostics, online }) => [
      ...diagnostics.map((found) =>
        workflowCommand(
          found.severity,
          {
            ...(isFlag(found)
              ? { file: place(file), line: 1 }
              : {
                  file: place(found.file),
                  line: found.line,
                  col: found.column,
                  endColumn: found.column + found.length,
                }),
            title: found.code,
          },
          [isFlag(found) ? `${found.file}: ${found.message}` : found.message, found.hint ?? []]
            .flat()
            .join('\n'),
        ),
      ),
      ...(online?.unlisted ?? []).map(({ model, step, line }) =>
        workflowCommand(
          'warning',
          { file: place(file), line, title: 'model.unlisted' },
          `The service does not list the model "${model}" that the step "${step}" asks.`,
        ),
      ),
    ])
    .join('');
}

/**
 * `::error file=a.yaml,line=4,col=9::message`. Whatever stands in a value ends neither it nor the command, as the toolkit of
 * GitHub Actions escapes it (`packages/core/src/command.ts` of actions/toolkit).
 */
function workflowCommand(
  name: 'error' | 'warning',
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const listed = Object.entries(properties).map(
    ([property, value]) =>
      `${property}=${escapedData(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`,
  );
  return `::${name} ${listed.join(',')}::${escapedData(message)}\n`;
}

const escapedData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** `1 of 2 pipelines is not valid.` */
export function validationWords({ files }: Validation): string {
  const invalid = files.filter(({ valid }) => !valid).length;
  if (invalid === 0)
    return files.length === 1 ? 'The pipeline is valid.' : `${count(files.length)} pipelines are valid.`;
  return `${count(invalid)} of ${count(files.length)} pipelines are not valid.`;
}
