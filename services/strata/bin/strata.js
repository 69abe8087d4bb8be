#!/usr/bin/env node
import "../dist/program/strata.js";
