const stepReference = /^steps\.([A-Za-z_][A-Za-z0-9_-]*)$/;

/** The step whose images an entry of `images` names: `steps.grid`. Undefined for a file, an address or `parent`. */
export const stepOfImage = (text: string): string | undefined => stepReference.exec(text)?.[1];
