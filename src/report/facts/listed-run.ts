import type { FailureRules } from '../../plan/graph/optional.ts';
import { readSums, spentSoFar } from '../../results/sums.ts';
import type { RunEnd } from '../../run/events.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import type { ListedRun } from './json-outputs.generated.ts';
import { type RunPlace, type StageFacts, seenFrom } from './place.ts';
import { readHowFar } from './planned.ts';
import { type RunFacts, readRunFacts } from './run.ts';

/** Reads the entry of a run in the list of `ls`, in a few short reads. @throws StateError if the state is damaged */
export async function readListedRun(
  place: RunPlace,
  state: StateReader,
  rules: FailureRules,
  io: { readonly cwd: string; now(): number },
): Promise<ListedRun> {
  const running = (await place.owner()) !== undefined;
  const stage = await place.stage?.();
  const facts = await readRunFacts(state);
  const sums = await readSums(state, running, rules);
  const { cost, possibleCost } = spentSoFar(sums);
  const planned = await readHowFar(state, facts, sums, running ? io.now() : undefined);
  const path = await state.fact(pipelineFacts.path);
  const name = nameIn((await state.fact(pipelineFacts.text)) ?? '');
  const { outcome } = facts ?? {};
  return {
    directory: place.name,
    ...(name === undefined ? {} : { name }),
    state: stage === undefined ? (running ? 'running' : lastState(facts)) : stateOf(stage, facts),
    ...(stage?.state === 'running' ? { workers: stage.workers } : {}),
    ...(facts === undefined ? {} : { startedAt: new Date(facts.startedAt).toISOString() }),
    ...(outcome === undefined
      ? {}
      : { finishedAt: new Date(outcome.finishedAt).toISOString(), exitCode: outcome.exitCode }),
    jobs: {
      done: sums.jobs.done,
      failed: sums.jobs.failed,
      inDoubt: sums.doubts,
      open: sums.open,
      skipped: sums.jobs.skipped,
      accepted: sums.jobs.accepted,
    },
    ...(planned === undefined ? {} : { planned }),
    submits: sums.attempts,
    ...(cost === undefined ? {} : { cost }),
    ...(possibleCost === undefined ? {} : { possibleCost }),
    tokens: sums.tokens,
    ...(path === undefined ? {} : { file: seenFrom(io.cwd, path) }),
  };
}

/** Returns how a run on an engine ended, even if no process recorded its end. */
function stateOf({ state, end }: StageFacts, facts: RunFacts | undefined): ListedRun['state'] {
  if (state === 'unled') return 'killed';
  if (state !== 'complete' && state !== 'stopped') return state;
  if (facts?.outcome !== undefined) return lastState(facts);
  return end === undefined || state === 'complete' ? 'complete' : endState(end);
}

function lastState(facts: RunFacts | undefined): ListedRun['state'] {
  if (facts === undefined) return 'empty';
  if (facts.outcome === undefined) return 'killed';
  const { end, exitCode } = facts.outcome;
  return end.kind === 'complete' && exitCode !== 0 ? 'failures' : endState(end);
}

const endState = ({ kind }: RunEnd): ListedRun['state'] => (kind === 'fail-fast' ? 'failures' : kind);

/** Finds the pipeline's name without a YAML parser: the text was valid when it ran, and names need no quoting. */
const nameIn = (text: string): string | undefined =>
  /^(?:\{\s*)?["']?name["']?:\s*["']?([\p{L}\p{N}][\p{L}\p{N}._-]{0,99})/mu.exec(text)?.[1];
