import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../../../app/errors/cli-error.ts';
import { packageFile } from '../../../app/version.ts';
import { reportFiles } from '../../../report/facts/layout.ts';

/** The folder of the page of results, as it was built. @throws CliError (exit 2) in a clone that was not built */
export function builtPage(): string {
  const page = packageFile('dist/page');
  if (existsSync(join(page, reportFiles.page))) return page;
  throw usageError('The page of results is not built.', 'In a clone of promptpress: npm run build');
}
