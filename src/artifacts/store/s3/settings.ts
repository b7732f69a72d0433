import type { S3Address } from './address.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** How a store is reached. */
export interface S3Settings {
  /** Base address `https://host[:port][/path]`, without a slash at its end; it already contains the bucket, in the host or in the path. */
  readonly base: string;
  /** `https://host` of the store, for messages. */
  readonly origin: string;
  /** Where the bucket is: in the path, or in the name of the host. */
  readonly style: 'path' | 'virtual';
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The error for missing or wrong settings. */
export class S3SettingsError extends Error {
  /** What to do. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = 'S3SettingsError';
    this.hint = hint;
  }
}

/** Returns the secret values of an environment. The id of a key is not a secret, and messages need not name it. */
export const secretsOfS3 = (env: Variables): readonly string[] =>
  ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [value];
  });

/** Returns the variable that names the endpoint; undefined: none, so the endpoint is AWS itself. */
export const endpointVariable = (env: Variables): string | undefined =>
  ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find((name) => (env[name]?.trim() ?? '') !== '');

/** Whether a header can hold a text. */
const isPlain = (text: string): boolean => /^[\x20-\x7e]+$/.test(text);

/**
 * Reads the same variables as the tools of AWS: the endpoint (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`; absent: AWS itself), the
 * region, and keys. With a custom endpoint the bucket is in the path, which most such stores understand; AWS expects it in the host.
 * `AWS_S3_ADDRESSING_STYLE` overrides that.
 *
 * @throws S3SettingsError
 */
export function readS3Settings({ bucket }: S3Address, env: Variables): S3Settings {
  const value = (...names: readonly string[]): string | undefined =>
    names.map((name) => env[name]?.trim() ?? '').find((text) => text !== '');
  const accessKeyId = value('AWS_ACCESS_KEY_ID');
  const secretAccessKey = value('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new S3SettingsError(
      `s3:// needs keys: ${accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY'} is not set.`,
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary keys), or name a file with them: --dotenv FILE. Profiles and roles are not read; this gives their keys: eval "$(aws configure export-credentials --format env)"',
    );
  const region = value('AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1';
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region))
    throw new S3SettingsError('AWS_REGION is not a region.', 'Set it to one, for example eu-central-1.');
  const sessionToken = value('AWS_SESSION_TOKEN');
  const parts = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SESSION_TOKEN: sessionToken };
  for (const [name, text] of Object.entries(parts))
    if (text !== undefined && !isPlain(text))
      throw new S3SettingsError(
        `${name} has characters that such a key cannot have.`,
        'Set it again: it is one line of letters, digits and signs.',
      );
  const style = value('AWS_S3_ADDRESSING_STYLE');
  if (style !== undefined && style !== 'path' && style !== 'virtual')
    throw new S3SettingsError(
      'AWS_S3_ADDRESSING_STYLE is neither "path" nor "virtual".',
      'Set it to path where the bucket stands in the path (https://s3.example.com/BUCKET), to virtual where it stands in the name of the host (https://BUCKET.s3.example.com).',
    );
  const endpoint = endpointVariable(env);
  return {
    ...placeOf(bucket, region, style, endpoint === undefined ? undefined : value(endpoint)),
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

function placeOf(
  bucket: string,
  region: string,
  wanted: S3Settings['style'] | undefined,
  endpoint: string | undefined,
): Pick<S3Settings, 'base' | 'origin' | 'style'> {
  const aws = `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const url = URL.canParse(endpoint ?? aws) ? new URL(endpoint ?? aws) : undefined;
  const isBare = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isBare)
    throw new S3SettingsError(
      'The endpoint of the S3 store (AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL) is not an address.',
      'Set it to something like https://s3.example.com, or leave it out for AWS.',
    );
  // A certificate for *.s3.… does not cover a name with dots.
  const style = wanted ?? (endpoint !== undefined || /[A-Z._]/.test(bucket) ? 'path' : 'virtual');
  const path = url.pathname.replace(/\/$/, '');
  const { origin, protocol, host, hostname } = url;
  if (style === 'path') return { base: `${origin}${path}/${bucket}`, origin, style };
  if (/[A-Z_]/.test(bucket) || /^[\d.]+$|^\[/.test(hostname))
    throw new S3SettingsError(
      `AWS_S3_ADDRESSING_STYLE is virtual, and "${bucket}.${hostname}" is not a host name.`,
      'Set it to path, or leave it out.',
    );
  return { base: `${protocol}//${bucket}.${host}${path}`, origin, style };
}
