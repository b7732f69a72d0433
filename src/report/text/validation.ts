import { relative, resolve } from 'node:path';
import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import type { JsonOutputs, ShownDiagnostic } from '../facts/json-outputs.generated.ts';
import { count } from './amounts.ts';

/** The output of `validate --json`. */
export type Validation = JsonOutputs['validate'];

/** A checked pipeline file with all mistakes found in it and its tables. */
export type CheckedFile = Validation['files'][number];

/** Converts a diagnostic for JSON output. */
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

/** Whether a mistake is in a flag. It has no line in a file, so it is shown at the beginning of the pipeline. */
const isFlag = ({ file }: ShownDiagnostic): boolean => file.startsWith('--set ');

/** What a service says about the models and image tasks of a pipeline. */
export type ModelCheck = NonNullable<CheckedFile['online']>;

/** Returns the result of `validate` for one file. @param isValid whether the pipeline can be planned */
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
 * Formats diagnostics as workflow commands of GitHub Actions, one per line, which it shows beside the source line.
 *
 * @param places the current folder, and the folder of the checkout (`GITHUB_WORKSPACE`), to which annotations are relative
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
 * Formats a workflow command: `::error file=a.yaml,line=4,col=9::message`. Values are escaped as in the toolkit of GitHub Actions
 * (`packages/core/src/command.ts` of actions/toolkit).
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

/** Summarises a validation: `1 of 2 pipelines is not valid.` */
export function validationWords({ files }: Validation): string {
  const invalid = files.filter(({ valid }) => !valid).length;
  if (invalid === 0)
    return files.length === 1 ? 'The pipeline is valid.' : `${count(files.length)} pipelines are valid.`;
  return `${count(invalid)} of ${count(files.length)} pipelines are not valid.`;
}
