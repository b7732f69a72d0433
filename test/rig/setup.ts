/**
 * Runs before every test file: a test may talk to 127.0.0.1 and to nothing else, and inherits no setting of
 * the machine it runs on (keys, proxies, colours).
 */
for (const name of Object.keys(process.env)) {
  if (/^PROMPTPRESS_(?!TEST_(?:COMMAND|LONG)$)|_proxy$/i.test(name) || name === 'FORCE_COLOR')
    delete process.env[name];
}
process.env['NO_COLOR'] = '1';
