/**
 * The JSON that promptpress and a gateway exchange, as loosely as real gateways write it (gateway 3, 4). The client and the sandbox
 * share these types, without behaviour, so that neither can hide the other's errors.
 */

/** The response to a submission (gateway 3.1, 3.2): `{code, description, result, properties}`. */
export interface WireSubmitResponse {
  readonly code: number;
  readonly description?: string | null;
  /** A task id; a string, or a bare number that may exceed 2^53. */
  readonly result?: string | number | bigint | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

/** A button (gateway 5.1); `type` and `style` are Discord's. */
export interface WireButton {
  readonly customId: string;
  readonly label?: string | null;
  readonly emoji?: string | null;
  readonly type?: number;
  readonly style?: number;
}

/** A link to one of several files of a task, in either form that gateways use (gateway 4.7). */
export type WireLink = string | { readonly url: string; readonly thumbnail?: string | null };

/** The record of a task, with the fields beyond the contract (gateway 4.2). */
export interface WireTask {
  readonly id?: string | number | bigint;
  readonly action?: string;
  readonly status?: string | null;
  readonly progress?: string | null;
  readonly prompt?: string | null;
  readonly promptEn?: string | null;
  readonly description?: string | null;
  readonly state?: string | null;
  readonly submitTime?: number | null;
  readonly startTime?: number | null;
  readonly finishTime?: number | null;
  readonly imageUrl?: string | null;
  readonly videoUrl?: string | null;
  readonly videoUrls?: readonly WireLink[] | null;
  /** Links to single images, where a gateway gives them beside `imageUrl`. */
  readonly imageUrls?: readonly WireLink[] | null;
  readonly failReason?: string | null;
  readonly buttons?: readonly WireButton[] | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

/** The error envelope (gateway 8.1). */
export interface WireErrorEnvelope {
  readonly error: {
    readonly code?: string | number | null;
    readonly message?: string;
    readonly type?: string;
    readonly param?: string;
    readonly status?: string;
  };
}
