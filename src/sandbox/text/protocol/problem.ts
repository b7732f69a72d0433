/** A request that is not accepted: what the error envelope says of it (gateway 8.1, 8.4). */
export interface RequestError {
  readonly status: number;
  readonly message: string;
  /** `error.code`; default the empty string (gateway 8.1). */
  readonly code?: string;
}

/** A request that was understood, or why not. */
export type Understood<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: RequestError };

export const refuse = (
  message: string,
  status = 400,
  code = '',
): { readonly ok: false; readonly error: RequestError } => ({ ok: false, error: { status, message, code } });

/** What a gateway says of a model that no channel of it has (gateway 8.4). */
export const unknownModel = (id: string): { readonly ok: false; readonly error: RequestError } =>
  refuse(`no available channel for model ${id.slice(0, 100)} under group default`, 503, 'model_not_found');
