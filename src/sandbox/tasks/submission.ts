import type { WireSubmitResponse } from '../../service/wire.ts';

/** The answer to a submission: its HTTP status, its body, and the id of the task it made. */
export interface Submission {
  readonly status: 200 | 404;
  readonly body: WireSubmitResponse;
  readonly taskId?: string;
}

/** A submission that was understood and refused: HTTP 200 with its code, and no task (protocol.md 2). */
export function refused(code: number, description: string, properties: object = {}): Submission {
  return { status: 200, body: { code, description, result: null, properties: { ...properties } } };
}

/** Words for the codes of protocol.md 2 that make no task. */
export const refusalTexts: Readonly<Record<number, string>> = {
  3: 'No usable account instance',
  4: 'Parameter error',
  9: 'Submit failed, system error',
  23: 'The queue is full, please try again later',
  24: 'The prompt may contain sensitive words',
};
