/** Errors of the file system about one file, and not about the disk; with the words for a message. */
export const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there',
  ELOOP: 'is a link that leads to itself',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ENAMETOOLONG: 'has a name that no file can have',
  ERR_INVALID_ARG_VALUE: 'has a name that no file can have',
};

export const isAboutFile = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && String(cause.code) in fileErrors;
