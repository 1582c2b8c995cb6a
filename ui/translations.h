// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/translations.h" // kerf::installTranslations(): kerfd has texts too, and links no ui
