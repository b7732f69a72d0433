/** What is read of a report in the schema of `mutation-testing-report-schema`. Lines and columns count from 1. */
export interface MutationReport {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>
  >;
}

interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

const found = ['Killed', 'Timeout'];
const missed = ['Survived', 'NoCoverage'];

/** A line for each mutant that no test noticed, then the score of each file and of all of them. */
export function summaryOf({ files }: MutationReport): string {
  const byFile = Object.entries(files).map(([file, { source, mutants }]) => ({
    file,
    killed: mutants.filter(({ status }) => found.includes(status)).length,
    survivors: mutants
      .filter(({ status }) => missed.includes(status))
      .sort((a, b) => a.location.start.line - b.location.start.line)
      .map((mutant) => survivorLine(file, source, mutant)),
  }));
  const all = {
    file: 'all',
    killed: byFile.reduce((sum, { killed }) => sum + killed, 0),
    survivors: byFile.flatMap(({ survivors }) => survivors),
  };
  const width = Math.max(...byFile.map(({ file }) => file.length), 3);
  const scores = [...byFile, all].map(({ file, killed, survivors }) => {
    const tried = killed + survivors.length;
    const score = tried === 0 ? 'none' : `${((killed / tried) * 100).toFixed(1)} %`;
    return `${file.padEnd(width)}  ${score.padStart(7)}  ${killed} of ${tried} mutants killed`;
  });
  return [...all.survivors, ...(all.survivors.length > 0 ? [''] : []), ...scores].join('\n');
}

function survivorLine(file: string, source: string, mutant: ReportedMutant): string {
  const { start } = mutant.location;
  const untested = mutant.status === 'NoCoverage' ? ' (no test runs it)' : '';
  const change = `${short(textOf(source, mutant))} → ${short(mutant.replacement ?? '')}`;
  return `${file}:${start.line}:${start.column}  ${mutant.mutatorName}  ${change}${untested}`;
}

function textOf(source: string, { location: { start, end } }: ReportedMutant): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join('\n');
}

/** One line of at most 70 characters. */
function short(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}
