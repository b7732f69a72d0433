import type { S3Address } from './address.ts';

/** Variables by name. */
type Variables = Readonly<Record<string, string | undefined>>;

/** How a store is reached. */
export interface S3Settings {
  /** `https://host[:port][/path]`, without a slash at its end; the bucket is in the host or in the path already. */
  readonly base: string;
  /** `https://host`, for messages. */
  readonly origin: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Settings that are missing, or wrong. */
export class S3SettingsError extends Error {
  /** What to do. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = 'S3SettingsError';
    this.hint = hint;
  }
}

/** The values of an environment that nobody may see. The id of a key is no secret, and messages need not name it. */
export const secretsOfS3 = (env: Variables): readonly string[] =>
  ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [value];
  });

/** The variable that names the endpoint; undefined: none does, and it is AWS itself. */
export const endpointVariable = (env: Variables): string | undefined =>
  ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find((name) => (env[name]?.trim() ?? '') !== '');

/**
 * Reads the variables that the tools of AWS read: the endpoint (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`; absent: AWS itself), the region, and
 * keys. A store at an endpoint of its own has the bucket in the path, which every such store understands; AWS wants it in the host.
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
    throw new S3SettingsError('AWS_REGION is no region.', 'Set it to one, for example eu-central-1.');
  const sessionToken = value('AWS_SESSION_TOKEN');
  const endpoint = endpointVariable(env);
  return {
    ...placeOf(bucket, region, endpoint === undefined ? undefined : value(endpoint)),
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

function placeOf(
  bucket: string,
  region: string,
  endpoint: string | undefined,
): Pick<S3Settings, 'base' | 'origin'> {
  if (endpoint === undefined) {
    const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    // A certificate for *.s3.… does not cover a name with dots.
    if (/[A-Z._]/.test(bucket)) return { base: `https://${host}/${bucket}`, origin: `https://${host}` };
    return { base: `https://${bucket}.${host}`, origin: `https://${host}` };
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isPlain)
    throw new S3SettingsError(
      'The endpoint of the S3 store (AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL) is no address.',
      'Set it to something like https://s3.example.com, or leave it out for AWS.',
    );
  const path = url.pathname.replace(/\/$/, '');
  return { base: `${url.origin}${path}/${bucket}`, origin: url.origin };
}
