/** The bytes of a base64 data URI; undefined where it is none. */
export function bytesOfDataUri(text: string, mime = /^image\/[\w.+-]+$/): Buffer | undefined {
  const comma = text.indexOf(',');
  const [, type] = /^data:([^;,]*);base64$/i.exec(text.slice(0, Math.min(comma, 100))) ?? [];
  if (comma < 0 || type === undefined || !mime.test(type.toLowerCase())) return undefined;
  const data = text.slice(comma + 1);
  if (data === '' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) return undefined;
  return Buffer.from(data, 'base64');
}
