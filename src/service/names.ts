/** The words in which gateways of one family differ (gateway 1.2), as data: another gateway is a setting and not a change of code. */
export interface Names {
  /** First path segment of the image workflow: `img` in `/img/submit/imagine`. */
  readonly path: string;
  /** Prefix of the path in relax mode, where the file asks for it; empty: none (gateway 1.5). */
  readonly relaxPrefix: string;
  /** Prefix of the path in fast and turbo mode (gateway 1.5): `/img-fast/img/submit/imagine`. */
  readonly fastPrefix: string;
  readonly turboPrefix: string;
  /** First path segment of the native text endpoint: `v1beta` in `/v1beta/models/text-pro:generateContent` (gateway 1.3). */
  readonly nativePath: string;
  /** First part of every customId: `IMG` in `IMG::JOB::upsample::1::…`. */
  readonly customId: string;
  /** Value that imagine sends unless the pipeline declares one. */
  readonly botType: string;
  /** Keys of the `tools` entries for search and maps grounding. */
  readonly searchTool: string;
  readonly mapsTool: string;
  /** Header, besides `Authorization`, in which the native text endpoint accepts a key. */
  readonly keyHeader: string;
  /** Header, besides `Authorization`, in which image paths accept a key; empty: none (gateway 1.4). */
  readonly imageKeyHeader: string;
  /** `type` of the service's error bodies (gateway 8.1). Only the sandbox uses it, in its answers. */
  readonly errorType: string;
}

export type NameKey = keyof Names;

/** Every preset by its name. */
export const namePresets = {
  neutral: {
    path: 'img',
    relaxPrefix: '',
    fastPrefix: 'img-fast',
    turboPrefix: 'img-turbo',
    nativePath: 'v1beta',
    customId: 'IMG',
    botType: 'IMG_JOURNEY',
    searchTool: 'vendor_search',
    mapsTool: 'vendorMaps',
    keyHeader: 'x-vendor-api-key',
    imageKeyHeader: '',
    errorType: 'svc_api_error',
  },
  'midjourney-proxy': {
    path: 'mj',
    relaxPrefix: 'mj-relax',
    fastPrefix: 'mj-fast',
    turboPrefix: 'mj-turbo',
    nativePath: 'v1beta',
    customId: 'MJ',
    botType: 'MID_JOURNEY',
    searchTool: 'google_search',
    mapsTool: 'googleMaps',
    keyHeader: 'x-goog-api-key',
    imageKeyHeader: 'mj-api-secret',
    errorType: 'new_api_error',
  },
} as const satisfies Readonly<Record<string, Names>>;

export type NamePreset = keyof typeof namePresets;

/** All names in the order in which users see them. */
export const nameKeys = Object.keys(namePresets.neutral) as readonly NameKey[];

/** An error in the `names` of a pipeline. */
export interface NamesError {
  readonly code: 'names.unknown-preset' | 'names.unknown-name' | 'names.invalid';
  readonly message: string;
  /** The wrong name, if it is a single one. */
  readonly name?: string;
}

export type ResolvedNames =
  | { readonly ok: true; readonly value: Names }
  | { readonly ok: false; readonly error: readonly NamesError[] };

// A name becomes part of an address: no slash at either end, no `..`, nothing that would need escaping.
const pathWord = /^[A-Za-z0-9_-][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._~-]*)*$/;
// A token of RFC 9110, except headers that control how a request is sent.
const headerWord =
  /^(?!(?:host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-\w+|accept|user-agent)$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;
const plainWord = /^[\x21-\x7e]+$/;

interface Shape {
  readonly pattern: RegExp;
  readonly what: string;
  readonly mayBeEmpty?: true;
}

const shapes: Readonly<Record<NameKey, Shape>> = {
  path: { pattern: pathWord, what: 'a path segment such as img' },
  relaxPrefix: { pattern: pathWord, what: 'a path segment such as img-relax, or nothing', mayBeEmpty: true },
  fastPrefix: { pattern: pathWord, what: 'a path segment such as img-fast' },
  turboPrefix: { pattern: pathWord, what: 'a path segment such as img-turbo' },
  nativePath: { pattern: pathWord, what: 'a path segment such as v1beta or v1' },
  customId: { pattern: plainWord, what: 'a word such as IMG' },
  botType: { pattern: plainWord, what: 'a word such as IMG_JOURNEY' },
  searchTool: { pattern: plainWord, what: 'a word such as vendor_search' },
  mapsTool: { pattern: plainWord, what: 'a word such as vendorMaps' },
  keyHeader: { pattern: headerWord, what: 'a header name such as x-vendor-api-key' },
  imageKeyHeader: {
    pattern: headerWord,
    what: 'a header name such as x-image-key, or nothing',
    mayBeEmpty: true,
  },
  errorType: { pattern: plainWord, what: 'a word such as svc_api_error' },
};

const isNameKey = (name: string): name is NameKey => Object.hasOwn(shapes, name);

/** Returns a preset with some names replaced by the user's own; reports all errors at once. */
export function resolveNames(preset: string, own: Readonly<Record<string, string>> = {}): ResolvedNames {
  const errors: NamesError[] = [];
  if (!Object.hasOwn(namePresets, preset)) {
    const known = Object.keys(namePresets).join(', ');
    errors.push({
      code: 'names.unknown-preset',
      message: `Unknown names preset "${preset}". Known: ${known}.`,
    });
  }
  const base: Names = namePresets[preset as NamePreset] ?? namePresets.neutral;
  const names: { -readonly [K in NameKey]: string } = { ...base };
  for (const [name, value] of Object.entries(own)) {
    if (!isNameKey(name)) {
      const message = `Unknown name "${name}". Known: ${nameKeys.join(', ')}.`;
      errors.push({ code: 'names.unknown-name', message, name });
    } else if (shapes[name].pattern.test(value) || (value === '' && shapes[name].mayBeEmpty)) {
      names[name] = value;
    } else {
      const message = `Invalid name: expected ${shapes[name].what} for "${name}", got ${JSON.stringify(value)}.`;
      errors.push({ code: 'names.invalid', message, name });
    }
  }
  return errors.length > 0 ? { ok: false, error: errors } : { ok: true, value: names };
}
