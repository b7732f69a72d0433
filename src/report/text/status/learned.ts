import type { LearnedFacts } from '../../facts/learned.ts';
import { count, durationWords } from '../amounts.ts';
import { shownLine } from '../printable.ts';
import { padEnd, widest } from '../table.ts';

const mostKinds = 20;

/** What the runs of a directory have learned about their service, for people. */
export function learnedLines(learned: LearnedFacts | undefined): readonly string[] {
  const kinds = (learned?.durations ?? []).slice(0, mostKinds);
  const width = widest(kinds.map(({ kind }) => shownLine(kind)));
  const lines = kinds.map((found) => `  ${padEnd(shownLine(found.kind), width)}  ${durationWords(found)}`);
  const limits = limitLines(learned?.limits);
  return [
    ...(kinds.length === 0 ? [] : ['', 'How long tasks take here (run --relearn forgets it):', ...lines]),
    ...(limits.length === 0 ? [] : ['', 'What the service accepts (run --relearn forgets it):', ...limits]),
  ];
}

function limitLines(limits: LearnedFacts['limits']): readonly string[] {
  if (limits === undefined) return [];
  const { tasks, perMinute, lanes = {} } = limits;
  return [
    ...(tasks === undefined ? [] : [`  tasks     ${count(tasks)} at a time`]),
    ...Object.entries(perMinute).map(([route, rate]) => `  ${route.padEnd(8)}  ${rate} requests a minute`),
    ...Object.entries(lanes).map(([kind, rate]) => `  ${shownLine(kind)}: ${rate} text calls a minute`),
  ];
}
