import type { Draft, Input, Kind } from '../input.ts';
import { Random } from '../random.ts';
import { hostileReply, hostileStream } from './answer.ts';
import { hostileArguments } from './arguments.ts';
import { hostileClick } from './click.ts';
import { hostileEngine } from './engine.ts';
import { hostileGit } from './git.ts';
import { hostileMask } from './mask.ts';
import { hostileName } from './name.ts';
import { hostilePath } from './path.ts';
import { hostilePipeline } from './pipeline.ts';
import { hostileRepository } from './repository.ts';
import { hostileSchema } from './schema.ts';
import { hostileSelector } from './selector.ts';
import { hostileTable } from './table.ts';
import { hostileTask } from './task.ts';
import { hostileTemplate } from './template.ts';

/** Of a thousand inputs, how many are of a kind: what starts processes and touches the disk is dear. */
const shares: Readonly<Record<Kind, readonly [share: number, draw: (random: Random) => Draft]>> = {
  pipeline: [125, hostilePipeline],
  table: [100, hostileTable],
  selector: [150, hostileSelector],
  template: [130, hostileTemplate],
  arguments: [60, hostileArguments],
  name: [28, hostileName],
  path: [10, hostilePath],
  git: [2, hostileGit],
  repository: [5, hostileRepository],
  // It needs a PostgreSQL: only where it is asked for.
  engine: [0, hostileEngine],
  stream: [80, hostileStream],
  answer: [70, hostileReply],
  schema: [70, hostileSchema],
  task: [100, hostileTask],
  click: [50, hostileClick],
  mask: [20, hostileMask],
};

/** The input with this number: always the same one for a seed, whichever others are made. */
export function inputAt(seed: number, index: number, only: Kind | undefined): Input {
  const random = new Random(seed, index);
  const kind = only ?? drawKind(random);
  const [, draw] = shares[kind];
  return { kind, chunk: 0, ...draw(random) };
}

function drawKind(random: Random): Kind {
  let left = random.next() * 1000;
  for (const [kind, [share]] of Object.entries(shares)) {
    left -= share;
    if (left < 0) return kind as Kind;
  }
  return 'pipeline';
}
