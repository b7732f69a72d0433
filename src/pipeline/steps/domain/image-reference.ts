const stepReference = /^steps\.([A-Za-z_][A-Za-z0-9_-]*)$/;

/** Returns the step in an entry of `images` such as `steps.grid`; undefined for a file, an address or `parent`. */
export const stepOfImage = (text: string): string | undefined => stepReference.exec(text)?.[1];
