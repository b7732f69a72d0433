import type { ReplyKeeper } from '../../src/artifacts/write-reply.ts';
import type { ReplyPlace } from '../../src/plan/job-request.ts';

/** Keeps replies in memory, in the order in which they came. */
export interface KeptReplies extends ReplyKeeper {
  readonly kept: readonly { readonly job: string; readonly reply: string }[];
}

/** Where the nth reply lies, from 0. */
export const placeOf = (at: number): ReplyPlace => ({ segment: 0, offset: at, length: 1, sha256: `${at}` });

export function keptReplies(): KeptReplies {
  const kept: { job: string; reply: string }[] = [];
  return { kept, keepReply: (job, reply) => placeOf(kept.push({ job, reply }) - 1) };
}
