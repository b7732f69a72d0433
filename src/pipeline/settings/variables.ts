/**
 * `${VAR}` and `${VAR:-default}`, as the service block may hold them. A default holds no other variable, so that a text of nothing
 * but beginnings is read once.
 */
export const variableReference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^}$]|\$+[^}${])*\$*))?\}/g;

/** The variable that holds the address of the service. */
export const addressVariable = 'PROMPTPRESS_BASE_URL';

/** How the names begin of variables that their owner means for pipelines. */
const ownPrefix = 'PROMPTPRESS_VAR_';

/**
 * True for a variable that the service block may name outside of `apiKey`. Its value goes into addresses, headers and bodies, to
 * a host that the file may choose: any other variable may hold a key of its user, which a stranger's file could ask for.
 */
export const mayBeSent = (name: string): boolean => name === addressVariable || name.startsWith(ownPrefix);
