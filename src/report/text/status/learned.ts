import { lanesOf, noLimits } from '../../../run/limits/learned-limits.ts';
import type { LearnedFacts } from '../../facts/learned.ts';
import { durationWords } from '../amounts.ts';
import { paceWords } from '../pace-words.ts';
import { shownLine } from '../printable.ts';
import { padEnd, widest } from '../table.ts';

const mostKinds = 20;

/** What the runs of a directory have learned about their service, for people. */
export function learnedLines(learned: LearnedFacts | undefined): readonly string[] {
  const kinds = (learned?.durations ?? []).slice(0, mostKinds);
  const width = widest(kinds.map(({ kind }) => shownLine(kind)));
  const lines = kinds.map((found) => `  ${padEnd(shownLine(found.kind), width)}  ${durationWords(found)}`);
  const limits = lanesOf(learned?.limits ?? noLimits).map((lane) => `  ${paceWords(lane)}`);
  return [
    ...(kinds.length === 0 ? [] : ['', 'How long tasks take here (run --relearn forgets it):', ...lines]),
    ...(limits.length === 0 ? [] : ['', 'What the service accepts (run --relearn forgets it):', ...limits]),
  ];
}
