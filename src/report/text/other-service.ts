import type { StateReader } from '../../state/reader.ts';
import { seenFrom } from '../facts/place.ts';
import { type RunService, StateServices, sandboxId } from '../facts/services.ts';
import { count, counted } from './amounts.ts';
import { serviceWords } from './plan-text.ts';
import { quoted } from './printable.ts';

/** A note that a directory's jobs were made for another service. */
export interface OtherServiceNote {
  readonly message: string;
  /** What the user can do. */
  readonly hint: string;
}

/**
 * Returns a note if the jobs of a directory were made for another service than the run would use: another address, another spelling of
 * it, or another `service.id`. The service is part of job keys, so everything would be paid again. Undefined for the same service, and
 * before the first submission.
 *
 * @param place the directory and the pipeline file, as the user names them
 */
export async function noteOnOtherService(
  state: StateReader,
  now: RunService,
  place: {
    readonly directory: string;
    /** Name of a run on an engine. */
    readonly name?: string;
    readonly file: string;
    readonly cwd: string;
  },
): Promise<OtherServiceNote | undefined> {
  const services = await StateServices.of(state);
  const last = await services.last();
  if (last === undefined || last.id === now.id) return undefined;
  const others = await services.others(now.id);
  // A run on an engine has one service, and gaps in its job numbers.
  const jobs =
    place.name === undefined
      ? others.reduce((sum, other) => sum + other.jobs, 0)
      : Object.values((await state.totals()).jobs).reduce((sum, of) => sum + of, 0);
  const doubts = others.reduce((sum, other) => sum + other.doubts, 0);
  const directory = place.name ?? seenFrom(place.cwd, place.directory);
  const inDoubt = doubts === 0 ? '' : `, ${doubts} of them in doubt`;
  return {
    message: `${directory} holds ${counted(jobs, 'job')} of another service, ${wordsFor(last)}${inDoubt}; this run would talk to ${wordsFor(now)}, where finished jobs would be paid for again.`,
    hint: [
      ...(isNameable(last, now)
        ? [`If it is the same service, say so in ${place.file}:  service: { id: ${yaml(last.id)} }`]
        : []),
      ...(doubts === 0 ? [] : [`To see its jobs in doubt:  promptpress status ${quoted(directory)}`]),
      ...(last.id === sandboxId
        ? ['To continue the rehearsal that is there:  --sandbox']
        : now.id === sandboxId
          ? ['To continue the run that is there:  leave --sandbox out']
          : []),
      'To begin again with this one, beside what is there:  --new-service',
      'To begin again in a directory of its own:  --out DIR',
    ].join('\n'),
  };
}

/**
 * Returns the lines of `status` about jobs of other services. Counts include these jobs, but a run against another service does not
 * continue them.
 */
export function otherServiceLines(
  others: readonly {
    readonly service: string;
    readonly origin?: string;
    readonly jobs: number;
    readonly doubts: number;
  }[] = [],
): readonly string[] {
  if (others.length === 0) return [];
  return [
    '',
    'Of these, made for another service, and continued only by a run against it:',
    ...others.map(
      ({ service, origin, jobs, doubts }) =>
        `  ${serviceWords(service, origin)}: ${counted(jobs, 'job')}${doubts === 0 ? '' : `, ${count(doubts)} in doubt`}`,
    ),
  ];
}

const wordsFor = ({ id, origin }: RunService): string =>
  id === sandboxId ? 'the sandbox' : serviceWords(id, origin);

/** Whether the hint may name the last service's id: not with the sandbox, and not if the id has variables and is stored as a hash. */
const isNameable = (last: RunService, now: RunService): boolean =>
  last.id !== sandboxId && now.id !== sandboxId && !last.id.includes('${');

const yaml = (id: string): string =>
  /^[\w./:-]*[\w/]$/.test(id) && !/^[\d.-]/.test(id) ? id : JSON.stringify(id);
