/** A place in a bucket. */
export interface S3Address {
  readonly bucket: string;
  /** Prefix without a slash at either end; empty: the whole bucket. */
  readonly prefix: string;
}

const scheme = 's3://';

/** Whether a text is meant as the address of a place in a bucket, correct or not. */
export const isS3Address = (text: string): boolean => text.toLowerCase().startsWith(scheme);

/** Longest prefix, in bytes. S3 accepts keys of 1024 bytes; the names of artifacts need some 100 of them. */
const maxPrefixBytes = 800;

/** @returns the address, or what is wrong with the text, as a sentence */
export function readS3Address(text: string): S3Address | string {
  const [bucket = '', ...parts] = text.slice(scheme.length).split('/');
  if (!text.startsWith(scheme)) return `It begins with ${scheme}, in small letters.`;
  // Names of other stores may have capital letters and underscores.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/.test(bucket))
    return 'A bucket has 3 characters or more: letters, digits, dots and hyphens.';
  const prefix = parts.join('/').replace(/\/$/, '');
  if (prefix === '') return { bucket, prefix };
  if (prefix.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return 'No part between two slashes may be empty, "." or "..".';
  if (/[\p{Cc}\p{Cs}\\?#]/u.test(prefix)) return 'It may have no control characters, and no \\, ? or #.';
  if (Buffer.byteLength(prefix) > maxPrefixBytes) return `It is longer than ${maxPrefixBytes} bytes.`;
  return { bucket, prefix };
}

/** Returns an address as users write it. */
export const shownS3Address = ({ bucket, prefix }: S3Address): string =>
  `${scheme}${bucket}${prefix === '' ? '' : `/${prefix}`}`;
