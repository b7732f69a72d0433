import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../../../app/errors/cli-error.ts';
import { packageFile } from '../../../app/version.ts';
import { reportFiles } from '../../../report/facts/layout.ts';

/** Returns the folder of the built page. @throws CliError (exit 2) in a clone without a build */
export function builtPage(): string {
  const page = packageFile('dist/page');
  if (existsSync(join(page, reportFiles.page))) return page;
  throw usageError('The page of results is not built.', 'In a clone of promptpress: npm run build');
}
