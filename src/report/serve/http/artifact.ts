import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { isArtifactName } from '../../../artifacts/store/names.ts';
import type { ArtifactStore } from '../../../artifacts/store/store.ts';
import type { ResultIndex } from '../index/result-index.ts';
import { type AnswerHeaders, sendText, writeHead } from './answer.ts';

/** Media types that a browser may display; it downloads all others. */
const shown = /^(?:image\/(?:png|jpeg|webp|gif|avif)|video\/(?:mp4|webm))$/;

const named = /\/([^/]+)-\d+\.[A-Za-z0-9]+$/;

/** Sends an artifact. The address only selects a file of a result; the store checks the name before it opens the file. */
export async function sendArtifact(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  { index, artifacts }: { readonly index: ResultIndex; readonly artifacts: Pick<ArtifactStore, 'open'> },
): Promise<void> {
  const [, job] = (isArtifactName(name) && named.exec(name)) || [];
  const listed = job === undefined ? undefined : index.ofJob(job).find(({ result }) => result.file === name);
  const file = listed?.result.file;
  if (file === undefined) return sendText(response, 404, 'No result has such a file.');
  const opened = await artifacts.open(file);
  if (!opened.ok) return sendText(response, 404, 'The file is not there.');
  const { bytes } = opened;
  try {
    // A job that is made again reuses the file name, so the tag contains the hash.
    const tag = listed?.sha256 === undefined ? undefined : `"${listed.sha256}-${bytes}"`;
    const headers = headersOf(listed?.mime ?? '', tag);
    if (tag !== undefined && request.headers['if-none-match'] === tag) {
      writeHead(response, 304, headers);
      response.end();
      return;
    }
    const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === tag;
    const range = isSame ? rangeOf(request.headers.range, bytes) : undefined;
    if (range === 'none')
      return sendText(response, 416, 'The file has no such bytes.', { 'content-range': `bytes */${bytes}` });
    const { from, to } = range ?? { from: 0, to: bytes - 1 };
    writeHead(response, range === undefined ? 200 : 206, {
      ...headers,
      'content-length': Math.max(0, to - from + 1),
      ...(range === undefined ? {} : { 'content-range': `bytes ${from}-${to}/${bytes}` }),
    });
    if (request.method === 'HEAD' || bytes === 0) {
      response.end();
      return;
    }
    await pipeline(opened.pieces(from, to + 1), response);
  } finally {
    await opened.close();
  }
}

function headersOf(mime: string, tag: string | undefined): AnswerHeaders {
  const type = shown.test(mime) ? mime : undefined;
  const isText = /^text\/|^application\/json$/.test(mime);
  return {
    'content-type': type ?? (isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'),
    ...(type === undefined && !isText ? { 'content-disposition': 'attachment' } : {}),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    ...(tag === undefined ? {} : { etag: tag }),
  };
}

interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Parses a `Range` header (RFC 9110, 14.2). @returns undefined for the whole file, also for unknown units and several ranges; `none` for
 * a range outside the file
 */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'none' : { from: bytes - length, to: bytes - 1 };
  }
  const from = Number(first);
  const to = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= bytes ? 'none' : { from, to };
}
