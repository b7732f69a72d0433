/**
 * The JSON that travels between promptpress and a gateway, as loosely as real gateways write it (service.md 2,
 * protocol.md 1 and 2). Shared by the client and the sandbox: types only, no behaviour, so that neither can hide
 * the other's mistakes.
 */

/** service.md 2.1 and protocol.md 2: `{code, description, result, properties}`. */
export interface WireSubmitResponse {
  readonly code: number;
  readonly description?: string | null;
  /** A task id; a string, or a bare number that may exceed 2^53. */
  readonly result?: string | number | bigint | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

/** service.md 2.3; `type` and `style` are Discord's (protocol.md 4). */
export interface WireButton {
  readonly customId: string;
  readonly label?: string | null;
  readonly emoji?: string | null;
  readonly type?: number;
  readonly style?: number;
}

/** One of several files of a task: gateways write it in either way (protocol.md 1.2). */
export type WireLink = string | { readonly url: string; readonly thumbnail?: string | null };

/** service.md 2.2 with the fields that protocol.md 1.2 adds. */
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
  /** Single images, where a gateway gives them beside `imageUrl`. */
  readonly imageUrls?: readonly WireLink[] | null;
  readonly failReason?: string | null;
  readonly buttons?: readonly WireButton[] | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

/** service.md 7.1. */
export interface WireErrorEnvelope {
  readonly error: {
    readonly code?: string | number | null;
    readonly message?: string;
    readonly type?: string;
    readonly param?: string;
    readonly status?: string;
  };
}
