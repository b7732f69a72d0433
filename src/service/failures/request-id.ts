import type { Reply } from '../http/reply.ts';
import type { Clean } from '../http/sanitize.ts';

const requestIdNote = /\(\s*request[ _-]?id\s*[:：]\s*([^()\s]{1,128})\s*\)/giu;

/** Splits "(request id: X)" off a message, wherever it stands. */
export function splitRequestId(text: string): { readonly message: string; readonly requestId?: string } {
  let requestId: string | undefined;
  const message = text.replace(requestIdNote, (_note, id: string) => {
    requestId ??= id;
    return '';
  });
  return { message: message.trim(), ...(requestId !== undefined && { requestId }) };
}

/** Returns the id that the service's support asks for: from the message, else from a header. */
export function withRequestId(
  fromMessage: string | undefined,
  reply: Reply,
  facts: { readonly clean: Clean },
): { readonly requestId?: string } {
  const id = fromMessage ?? reply.header('x-oneapi-request-id') ?? reply.header('x-request-id');
  return id === null || id === '' ? {} : { requestId: facts.clean(id) };
}
