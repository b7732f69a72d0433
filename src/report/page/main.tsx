import './style/page.css';
import { render } from 'preact';
import { Page } from './app.tsx';
import { openSource } from './source/browser.ts';
import { AppContext } from './state/app.ts';
import { openApp } from './state/browser.ts';

const place = document.getElementById('page');
if (place)
  render(
    <AppContext.Provider value={openApp(openSource())}>
      <Page />
    </AppContext.Provider>,
    place,
  );
